using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Dead letters of a whole host, from the failing shop to the replay, whatever transport and store it has.</summary>
[CancelAfter(180_000)]
public abstract class ReplayContract
{
    private DirectoryInfo _folder = null!;
    private OrderSink _shop = null!;
    private HostProcess _host = null!;

    private protected HostProcess Host => _host;

    /// <summary>The sections <c>transport</c> and <c>store</c>, and further endpoints and sections where the fixture needs them.</summary>
    private protected abstract string Sections { get; }

    private protected virtual string Endpoints => "";

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-replay-");
        _shop = await OrderSink.StartAsync();
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), $$"""
            {
              {{Sections}}
              "topics": { "orders": {} },
              "endpoints": {
                "orders-in": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "shop": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{_shop.Url}}", "poolSize": 8, "processingThreads": 8 }
                {{Endpoints}}
              }
            }
            """);
        await StartHostAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _shop.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Dead_letters_arrive_after_the_shop_is_mended_at_the_rate_asked_for_with_their_ids(CancellationToken cancellationToken)
    {
        var ids = await MakeLettersAsync(60, cancellationToken);
        var groups = await _host.AskAsync("/api/dead-letters/groups?by=cause&endpoint=shop", cancellationToken);

        _shop.Refuses = _ => false;
        var started = TimeProvider.System.GetTimestamp();
        var (exitCode, output, error) = await RunAsync(cancellationToken, "dead-letters", "replay", "--endpoint", "shop", "--rate", "20", "--reason", "mended", "--command", "monday", "--wait");
        var elapsed = TimeProvider.System.GetElapsedTime(started);
        await TakenAsync(ids, cancellationToken);
        var (repeated, again, _) = await RunAsync(cancellationToken, "dead-letters", "replay", "--endpoint", "shop", "--rate", "20", "--reason", "mended", "--command", "monday", "--wait");

        var letters = Items(await _host.AskAsync("/api/dead-letters?endpoint=shop&limit=1000", cancellationToken));
        var journey = Items(await _host.AskAsync($"/api/messages/{ids[0]}", cancellationToken));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(groups.GetProperty("items")[0].GetProperty("count").GetInt64(), Is.EqualTo(60));
            Assert.That(exitCode, Is.Zero, error);
            Assert.That(repeated, Is.Zero);
            Assert.That(again.Split('\n')[0], Is.EqualTo(output.Split('\n')[0]), "the same command, the same job");
            Assert.That(output, Does.Contain("completed: 60 of 60 sent, 0 came back"));
            Assert.That(elapsed, Is.GreaterThan(TimeSpan.FromSeconds(2.5)), "60 at 20/s");
            Assert.That(_shop.Taken.Select(taken => taken.Message), Is.EquivalentTo(ids), "each once");
            Assert.That(letters.Select(letter => letter.GetProperty("state").GetString()), Is.All.EqualTo("replayed"));
            Assert.That(journey.Select(fact => fact.GetProperty("kind").GetString()), Is.SupersetOf(new[] { "dead-lettered", "replayed", "delivered" }));
        }
    }

    [Test]
    public async Task Job_stops_when_its_letters_come_back_and_those_are_open_again(CancellationToken cancellationToken)
    {
        var ids = await MakeLettersAsync(100, cancellationToken);

        _shop.Refuses = body => int.Parse(body) % 2 == 0;
        var job = await PostAsync("/api/replays", """{ "filter": { "endpoint": "shop" }, "batchSize": 40, "batchPause": "2s", "stopAtFailureShare": 0.3 }""", cancellationToken);
        var path = $"/api/replays/{job.GetProperty("id").GetString()}";
        await _host.WaitAsync(async token => StateOf(await _host.AskAsync(path, token)) == "stopped", TimeSpan.FromSeconds(30), "to stop the job", cancellationToken);
        var stopped = await _host.AskAsync(path, cancellationToken);

        _shop.Refuses = _ => false;
        await PostAsync($"{path}/resume", "", cancellationToken);
        await _host.WaitAsync(async token => StateOf(await _host.AskAsync(path, token)) == "completed", TimeSpan.FromSeconds(60), "to finish the job", cancellationToken);
        await PostAsync("/api/replays", """{ "filter": { "endpoint": "shop" } }""", cancellationToken);
        await TakenAsync(ids, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(stopped.GetProperty("replayed").GetInt64(), Is.LessThanOrEqualTo(30), "one batch, or two");
            Assert.That(stopped.GetProperty("failed").GetInt64(), Is.GreaterThanOrEqualTo(3));
            Assert.That(_shop.Taken.Select(taken => taken.Message), Is.EquivalentTo(ids), "each once");
        }
    }

    [Test]
    public async Task Edited_letter_arrives_as_a_new_message_and_the_original_stays(CancellationToken cancellationToken)
    {
        var id = (await MakeLettersAsync(1, cancellationToken))[0];
        var letter = Items(await _host.AskAsync("/api/dead-letters?endpoint=shop", cancellationToken))[0].GetProperty("id").GetString();

        _shop.Refuses = body => body != "mended";
        var job = await PostAsync($"/api/dead-letters/{letter}/replay", """{ "edit": { "body": "mended" }, "reason": "wrong number" }""", cancellationToken);
        await _host.WaitAsync(_ => Task.FromResult(_shop.Taken.Count == 1), TimeSpan.FromSeconds(20), "to send the edited order", cancellationToken);
        await _host.WaitAsync(async token => StateOf(await _host.AskAsync($"/api/dead-letters/{letter}", token)) == "replayed", TimeSpan.FromSeconds(20), "to mark the letter", cancellationToken);

        var kept = await _host.AskAsync($"/api/dead-letters/{letter}", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(_shop.Taken.Single().Message, Is.Not.EqualTo(id).And.EqualTo(job.GetProperty("editedAs").GetGuid()).And.EqualTo(kept.GetProperty("replayedAs").GetGuid()));
            Assert.That(kept.GetProperty("messageId").GetGuid(), Is.EqualTo(id));
        }
    }

    [Test, Property("Case", "T-RPL-1")]
    public async Task Host_that_is_killed_while_it_replays_loses_nothing(CancellationToken cancellationToken)
    {
        const int count = 500;
        var ids = await MakeLettersAsync(count, cancellationToken);
        _shop.Refuses = _ => false;
        var job = await PostAsync("/api/replays", """{ "filter": { "endpoint": "shop" }, "rate": 100 }""", cancellationToken);
        var path = $"/api/replays/{job.GetProperty("id").GetString()}";

        for (var kill = 1; kill <= 3; kill++)
        {
            await _host.WaitAsync(_ => Task.FromResult(_shop.Taken.Count >= kill * 80), TimeSpan.FromSeconds(60), "to replay", cancellationToken);
            _host.Kill();
            await _host.DisposeAsync();
            await StartHostAsync(cancellationToken);
        }

        await _host.WaitAsync(async token => StateOf(await _host.AskAsync(path, token)) == "completed", TimeSpan.FromSeconds(60), "to finish the job", cancellationToken);
        await TakenAsync(ids, cancellationToken);

        var taken = _shop.Taken.Select(order => order.Message).ToList();
        var done = await _host.AskAsync(path, cancellationToken);
        var open = Items(await _host.AskAsync("/api/dead-letters?state=open&endpoint=shop&limit=1000", cancellationToken));
        TestContext.Out.WriteLine($"{count} letters, 3 kills: {taken.Distinct().Count()} arrived, {taken.Count - taken.Distinct().Count()} repeated with the same id, {open.Count} open");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(ids.Except(taken), Is.Empty, "in neither");
            Assert.That(taken.Except(ids), Is.Empty, "unexpected");
            Assert.That(open, Is.Empty);
            Assert.That((done.GetProperty("replayed").GetInt64(), done.GetProperty("failed").GetInt64()), Is.EqualTo((count, 0)));
        }
    }

    private protected async Task<JsonElement> PostAsync(string path, string body, CancellationToken cancellationToken)
    {
        var key = await File.ReadAllTextAsync(Path.Combine(_folder.FullName, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host.Management, path));
        if (body.Length > 0) request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
        using var response = await _host.Client.SendAsync(request, cancellationToken);
        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(response.IsSuccessStatusCode, Is.True, text);
        return JsonDocument.Parse(text).RootElement;
    }

    private protected static IReadOnlyList<JsonElement> Items(JsonElement page) => [.. page.GetProperty("items").EnumerateArray()];

    private protected static string? StateOf(JsonElement thing) => thing.GetProperty("state").GetString();

    private protected async Task<IReadOnlyList<Guid>> OrderAsync(int count, CancellationToken cancellationToken)
    {
        var ids = new List<Guid>();
        foreach (var chunk in Enumerable.Range(0, count).Chunk(20)) ids.AddRange(await Task.WhenAll(chunk.Select(number => PostOrderAsync(number, cancellationToken))));
        return ids;
    }

    private async Task<IReadOnlyList<Guid>> MakeLettersAsync(int count, CancellationToken cancellationToken)
    {
        _shop.Refuses = _ => true;
        var ids = await OrderAsync(count, cancellationToken);
        await _host.WaitAsync(
            async token => Items(await _host.AskAsync("/api/dead-letters?endpoint=shop&limit=1000", token)).Count == count, TimeSpan.FromSeconds(60), $"to keep {count} dead letters", cancellationToken);
        return ids;
    }

    private async Task<Guid> PostOrderAsync(int number, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", $"{number}", "text/plain", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        return Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single());
    }

    private Task TakenAsync(IReadOnlyList<Guid> ids, CancellationToken cancellationToken) => _host.WaitAsync(
        _ => Task.FromResult(!ids.Except(_shop.Taken.Select(taken => taken.Message)).Any()), TimeSpan.FromSeconds(60), $"to deliver all {ids.Count} orders", cancellationToken);

    private Task<(int ExitCode, string Output, string Error)> RunAsync(CancellationToken cancellationToken, params string[] arguments) =>
        CommandLine.RunAsync(_folder.FullName, cancellationToken, [.. arguments, "--url", _host.Management.ToString()]);

    private async Task StartHostAsync(CancellationToken cancellationToken) => _host = await HostProcess.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);
}
