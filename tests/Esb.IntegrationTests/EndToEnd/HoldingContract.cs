using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The sample of steps that hold messages, on a whole host.</summary>
[CancelAfter(180_000)]
public abstract class HoldingContract
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private DirectoryInfo _folder = null!;

    private protected RunningHost Host { get; private set; } = null!;

    /// <summary>Transport and store.</summary>
    private protected abstract string Sections { get; }

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    [TearDown]
    public async Task StopHost()
    {
        if (Host is { } started)
            await started.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Parts_of_an_order_become_one_message_although_the_host_is_killed_in_between(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await PostAsync("/parts", """{ "order": "a", "n": 1 }""", cancellationToken, ("x-parts", "3"));
        await PostAsync("/parts", """{ "order": "b", "n": 1 }""", cancellationToken, ("x-parts", "2"));
        await PostAsync("/parts", """{ "order": "a", "n": 2 }""", cancellationToken, ("x-parts", "3"));
        await KillAndStartAsync(cancellationToken);

        await PostAsync("/parts", """{ "order": "a", "n": 3 }""", cancellationToken, ("x-parts", "3"));

        var file = (await WaitForFilesAsync("orders", "orders.complete-*", 1, cancellationToken))[0];
        Assert.That(NumbersIn(file), Is.EqualTo(new[] { 1, 2, 3 }));
        Assert.That(Path.GetFileName(file), Does.StartWith("orders.complete-a-"), "the other order waits on");
    }

    [Test]
    public async Task Lines_of_a_list_are_put_together_by_customer_and_their_journey_tells_so(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        var id = await PostAsync(
            "/lists",
            """{ "lines": [{ "customer": "x", "n": 1 }, { "customer": "y", "n": 2 }, { "customer": "x", "n": 3, "last": true }] }""",
            cancellationToken
        );

        var file = (await WaitForFilesAsync("orders", "orders.lines-*", 1, cancellationToken))[0];
        List<string?> names = [];
        await Host.WaitAsync(
            async token =>
                (
                    names = [
                        .. (await Host.AskAsync($"/api/messages/{id}", token))
                            .GetProperty("items")
                            .EnumerateArray()
                            .Select(fact => fact.TryGetProperty("name", out var name) ? name.GetString() : null),
                    ]
                ).Contains("aggregate-released"),
            Limit,
            "to show the release",
            cancellationToken
        );
        Assert.That(NumbersIn(file), Is.EqualTo(new[] { 1, 3 }));
        Assert.That(names.Count(name => name == "aggregated"), Is.EqualTo(3), "each line was held");
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Readings_leave_in_the_order_of_their_numbers_and_a_gap_is_given_up_in_time(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        foreach (var number in new[] { 3, 2, 5, 6 })
            await PostAsync("/readings", $$"""{ "device": "d", "number": {{number}} }""", cancellationToken);
        await KillAndStartAsync(cancellationToken);

        await PostAsync("/readings", """{ "device": "d", "number": 1 }""", cancellationToken);

        List<int> numbers = [];
        await Host.WaitAsync(
            _ => Task.FromResult((numbers = [.. Files("readings", "*").SelectMany(NumbersIn)]).Count == 5),
            Limit,
            "to have written five readings",
            cancellationToken
        );
        Assert.That(numbers.Order(), Is.EqualTo(new[] { 1, 2, 3, 5, 6 }));
        Assert.That(Files("readings", "*").Select(file => NumbersIn(file)), Has.All.Ordered);
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Reminder_that_waits_in_the_store_survives_a_kill_and_is_never_early(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        var due = TimeProvider.System.GetUtcNow().AddSeconds(34);
        await PostAsync("/reminders", $$"""{ "text": "later", "at": "{{due:O}}" }""", cancellationToken);
        await PostAsync("/reminders", """{ "text": "soon", "at": "1s" }""", cancellationToken);
        await WaitForFilesAsync("reminders", "soon-*", 1, cancellationToken);
        await KillAndStartAsync(cancellationToken);

        var file = (await WaitForFilesAsync("reminders", "later-*", 1, cancellationToken))[0];

        Assert.That(File.GetLastWriteTimeUtc(file), Is.GreaterThanOrEqualTo(due.UtcDateTime));
    }

    [Test, Category("Thorough")]
    public async Task What_fails_behind_the_step_is_parked_and_continues_there_with_another_configuration(
        CancellationToken cancellationToken
    )
    {
        const string Publish = """{ "publish": "orders.complete" }""";
        await StartAsync(cancellationToken, Publish, """{ "fail": { "reason": "not today", "code": "NOT-TODAY" } }""");
        await PostAsync("/parts", """{ "order": "p", "n": 1 }""", cancellationToken, ("x-parts", "2"));
        await PostAsync("/parts", """{ "order": "p", "n": 2 }""", cancellationToken, ("x-parts", "2"));
        JsonElement line = default;
        await Host.WaitAsync(
            async token =>
                (await Host.AskAsync("/api/parked?endpoint=process%3Acollect-parts", token)).GetProperty("items").EnumerateArray().ToList()
                    is [var found]
                && (line = found).ValueKind == JsonValueKind.Object,
            Limit,
            "to park the order",
            cancellationToken
        );

        await WriteAsync(cancellationToken);
        await Host.TellAsync("/api/configuration/reload", cancellationToken);
        var released = $"/api/parked/process%3Acollect-parts/{Uri.EscapeDataString(line.GetProperty("line").GetString()!)}/release";
        await Host.TellAsync(released, cancellationToken);

        var file = (await WaitForFilesAsync("orders", "orders.complete-p-*", 1, cancellationToken))[0];
        Assert.That(line.GetProperty("failure").GetProperty("code").GetString(), Is.EqualTo("NOT-TODAY"));
        Assert.That(NumbersIn(file), Is.EqualTo(new[] { 1, 2 }));
    }

    private protected async Task StartAsync(CancellationToken cancellationToken, string replaced = "-", string by = "-")
    {
        _folder = Directory.CreateTempSubdirectory("esb-holding-");
        await WriteAsync(cancellationToken, replaced, by);
        await StartHostAsync(cancellationToken);
    }

    private async Task WriteAsync(CancellationToken cancellationToken, string replaced = "-", string by = "-")
    {
        var text = await File.ReadAllTextAsync(Path.Combine(Repository.PathOf("samples", "holding"), "esb.json"), cancellationToken);
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            text.Replace(replaced, by, StringComparison.Ordinal)
                .Replace("\"topics\"", $"{Sections} \"topics\"", StringComparison.Ordinal)
                .Replace("\"within\": \"5s\"", "\"within\": \"40s\"", StringComparison.Ordinal), // a start may take as long
            cancellationToken
        );
    }

    private protected async Task KillAndStartAsync(CancellationToken cancellationToken)
    {
        Host.Kill();
        await Host.DisposeAsync();
        await StartHostAsync(cancellationToken);
    }

    private protected async Task<string> PostAsync(
        string path,
        string body,
        CancellationToken cancellationToken,
        params (string Name, string Value)[] headers
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Public, path))
        {
            Content = new StringContent(body, MediaTypeHeaderValue.Parse("application/json")),
        };
        foreach (var (name, value) in headers)
            request.Headers.Add(name, value);
        using var response = await Host.Client.SendAsync(request, cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), Host.Output);
        using var answer = JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken));
        return answer.RootElement.GetProperty("messageId").GetString()!;
    }

    private protected async Task<IReadOnlyList<string>> WaitForFilesAsync(
        string folder,
        string pattern,
        int count,
        CancellationToken cancellationToken
    )
    {
        await Host.WaitAsync(
            _ => Task.FromResult(Files(folder, pattern).Count >= count),
            Limit,
            $"to have written {count} files {pattern}",
            cancellationToken
        );
        return Files(folder, pattern);
    }

    private protected IReadOnlyList<string> Files(string folder, string pattern)
    {
        var path = Path.Combine(_folder.FullName, "esb-data", folder);
        return Directory.Exists(path) ? Directory.GetFiles(path, $"{pattern}.json") : [];
    }

    private protected static IReadOnlyList<int> NumbersIn(string file)
    {
        using var document = JsonDocument.Parse(File.ReadAllText(file));
        return
        [
            .. document
                .RootElement.EnumerateArray()
                .Select(one => (one.TryGetProperty("n", out var number) ? number : one.GetProperty("number")).GetInt32()),
        ];
    }

    private async Task StartHostAsync(CancellationToken cancellationToken) =>
        Host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);
}

/// <summary>On the embedded default.</summary>
[Category("Thorough")]
public sealed class EmbeddedHoldingTests : HoldingContract
{
    private protected override string Sections => "";
}

/// <summary>On RabbitMQ and PostgreSQL.</summary>
public sealed class ServerHoldingTests : HoldingContract
{
    private const int Orders = 60;
    private const int Parts = 4;

    private readonly string _run = $"{Guid.NewGuid():N}"[..10];

    private string Name => $"hold{_run}{TestContext.CurrentContext.Test.ID.Replace('-', '_')}";

    private protected override string Sections =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{Name}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_TEST_POSTGRES}", "schema": "{{Name}}" },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { ["ESB_TEST_RABBITMQ"] = Servers.RabbitMq, ["ESB_TEST_POSTGRES"] = Servers.Postgres };

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task No_part_is_lost_or_doubled_when_the_host_is_killed_again_and_again_under_load(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        for (var part = 0; part < Parts; part++)
        {
            await Task.WhenAll(
                Enumerable
                    .Range(0, Orders)
                    .Select(order =>
                        PostAsync("/parts", $$"""{ "order": "o{{order}}", "n": {{part}} }""", cancellationToken, ("x-parts", $"{Parts}"))
                    )
            );
            await KillAndStartAsync(cancellationToken); // in the middle of releases the last time
        }

        var files = await WaitForFilesAsync("orders", "orders.complete-*", Orders, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(files, Has.Count.EqualTo(Orders), "each with an id of its own: none doubled");
            Assert.That(files.Select(NumbersIn), Has.All.EqualTo(Enumerable.Range(0, Parts)));
        }
    }
}
