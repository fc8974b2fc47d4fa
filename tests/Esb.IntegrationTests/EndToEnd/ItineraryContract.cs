using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Esb.Core.Messages;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The sample of itineraries on a whole host.</summary>
[CancelAfter(180_000)]
public abstract class ItineraryContract
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

    [Test]
    public async Task Message_passes_all_stops_and_is_seen_at_its_last(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        using var accepted = await PostAsync("/customers", """{ "customer": "ada" }""", cancellationToken);
        Assert.That(accepted.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), Host.Output);

        var run = await FindAsync("state=completed&name=onboard", 1, cancellationToken);
        await WaitForFilesAsync("onboarded", 1, cancellationToken);
        var id = run.GetProperty("messageId").GetString();
        var shown = await Host.AskAsync($"/api/itineraries/{id}", cancellationToken);
        string?[] stops = [];
        await Host.WaitAsync(
            async token => (stops = await StopsAsync(id, token)).Length >= 4,
            TimeSpan.FromSeconds(20),
            "to record all stops",
            cancellationToken
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.GetProperty("stop").GetString(), Is.EqualTo("invoice"));
            Assert.That(shown.GetProperty("stops").GetString(), Does.Contain("wait(ship) → stop(ship"));
            Assert.That(stops, Is.EquivalentTo(new[] { "1", "account", "ship", "invoice" }));
            Assert.That(Files("accounts"), Has.Count.EqualTo(1));
            Assert.That(Files("shipments"), Has.Count.EqualTo(1));
            Assert.That(Files("closed"), Is.Empty);
        }
    }

    [Test]
    public async Task Stop_that_fails_for_good_undoes_those_before_it_across_durable_stops(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        using var accepted = await PostAsync("/customers", """{ "customer": "bob", "credit": false }""", cancellationToken);

        var run = await FindAsync("state=compensated", 1, cancellationToken);

        var letters = await Host.AskAsync("/api/dead-letters?endpoint=itinerary%3Aonboard", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.GetProperty("code").GetString(), Is.EqualTo("NO-CREDIT"));
            Assert.That(Files("returns"), Has.Count.EqualTo(1));
            Assert.That(Files("closed"), Has.Count.EqualTo(1));
            Assert.That(Files("onboarded"), Is.Empty);
            Assert.That(letters.GetProperty("items").GetArrayLength(), Is.EqualTo(1));
            Assert.That(letters.GetProperty("items")[0].GetProperty("reason").GetString(), Does.Contain("Undone: ship, account"));
        }
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Everything_accepted_reaches_its_last_stop_once_or_is_undone_although_the_host_is_killed(
        CancellationToken cancellationToken
    )
    {
        const int Lives = 3;
        const int Customers = 30;
        await StartAsync(cancellationToken);
        for (var life = 0; life < Lives; life++)
        {
            var answers = await Task.WhenAll(
                Enumerable
                    .Range(life * Customers, Customers)
                    .Select(n =>
                        PostAsync(
                            "/customers",
                            $$"""{ "customer": "c{{n}}", "credit": {{(n % 10 == 0 ? "false" : "true")}} }""",
                            cancellationToken
                        )
                    )
            );
            Assert.That(answers.Select(answer => answer.StatusCode), Is.All.EqualTo(HttpStatusCode.Accepted));
            Host.Kill();
            await Host.DisposeAsync();
            await StartHostAsync(cancellationToken);
        }

        const int Refused = Lives * Customers / 10;
        await FindAsync("state=completed", (Lives * Customers) - Refused, cancellationToken);
        await FindAsync("state=compensated", Refused, cancellationToken);
        await WaitForFilesAsync("onboarded", (Lives * Customers) - Refused, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Files("onboarded"), Has.Count.EqualTo((Lives * Customers) - Refused), "each with an id of its own: none doubled");
            Assert.That(Files("shipments"), Has.Count.EqualTo(Lives * Customers));
            Assert.That(Files("returns"), Has.Count.EqualTo(Refused));
            Assert.That(Files("closed"), Has.Count.EqualTo(Refused));
        }
    }

    [Test]
    public async Task Itinerary_is_chosen_by_the_message_and_answers(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        await AssertAnswerAsync("/quotes", """{ "amount": 5 }""", null, 200, "small");
        await AssertAnswerAsync("/quotes", """{ "amount": 5000 }""", null, 200, "large: large");
        await AssertAnswerAsync("/named", "{}", "quote-small", 200, "small");
        await AssertAnswerAsync("/named", "{}", "onboard", 422, "ESB-ITIN-NONE");

        async Task AssertAnswerAsync(string path, string body, string? named, int status, string text)
        {
            using var response = await PostAsync(path, body, cancellationToken, named);
            Assert.That((int)response.StatusCode, Is.EqualTo(status), Host.Output);
            Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain(text), $"{path} {body} {named}");
        }
    }

    [Test]
    public async Task Commands_show_where_messages_are(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        using var accepted = await PostAsync("/customers", """{ "customer": "ada" }""", cancellationToken);
        using var refused = await PostAsync("/customers", """{ "customer": "bob", "credit": false }""", cancellationToken);
        var id = (await FindAsync("state=completed", 1, cancellationToken)).GetProperty("messageId").GetString()!;
        await FindAsync("state=compensated", 1, cancellationToken);

        var all = await EsbAsync(["itineraries", "list", "--itinerary", "onboard"], cancellationToken);
        var failed = await EsbAsync(["itineraries", "list", "--state", "compensated", "--stop", "invoice"], cancellationToken);
        var shown = JsonDocument.Parse(await EsbAsync(["itineraries", "show", id], cancellationToken)).RootElement;
        var (exitCode, _, error) = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            ["itineraries", "show", $"{Guid.Empty}", "--url", Host.Management.OriginalString]
        );

        using (Assert.EnterMultipleScope())
        {
            Assert.That(all.Split('\n'), Has.Length.EqualTo(4), "a header, two messages and the end");
            Assert.That(all, Does.Match($@"{id}\s+onboard\s+invoice\s+completed\s"));
            Assert.That(failed, Does.Match(@"onboard\s+invoice\s+compensated\s.*NO-CREDIT").And.Not.Contain(id));
            Assert.That((shown.GetProperty("messageId").GetString(), shown.GetProperty("stop").GetString()), Is.EqualTo((id, "invoice")));
            Assert.That(exitCode, Is.EqualTo(ExitCode.Usage));
            Assert.That(error, Does.Contain($"{Guid.Empty}"));
        }
    }

    [Test, Category("Thorough")]
    public async Task Message_whose_stop_is_gone_is_parked_and_continues_when_it_is_back(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await EsbAsync(["endpoints", "pause", Queue], cancellationToken);
        using var accepted = await PostAsync("/customers", """{ "customer": "ada" }""", cancellationToken);
        await FindAsync("state=waiting&stop=ship", 1, cancellationToken);
        await WriteAsync(cancellationToken, "\"id\": \"ship\"", "\"id\": \"deliver\"");
        await EsbAsync(["reload"], cancellationToken);

        await EsbAsync(["endpoints", "resume", Queue], cancellationToken);
        var parked = await FindParkedAsync(cancellationToken);
        await WriteAsync(cancellationToken);
        await EsbAsync(["reload"], cancellationToken);
        await EsbAsync(
            ["parked", "release", Queue, parked.GetProperty("line").GetString()!, "--reason", "the stop is back"],
            cancellationToken
        );

        await FindAsync("state=completed", 1, cancellationToken);
        await WaitForFilesAsync("onboarded", 1, cancellationToken);
        Assert.That(parked.GetProperty("failure").GetProperty("code").GetString(), Is.EqualTo("ESB-HOLD-GONE"));
        Assert.That((Files("accounts").Count, Files("shipments").Count, Files("onboarded").Count), Is.EqualTo((1, 1, 1)));
    }

    [Test, Category("Thorough")]
    public async Task Message_that_has_been_on_its_way_for_too_long_is_undone_at_its_next_stop(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken, "\"onboard\": {", "\"onboard\": { \"timeout\": \"1s\",");
        await EsbAsync(["endpoints", "pause", Queue], cancellationToken);
        using var accepted = await PostAsync("/customers", """{ "customer": "ada" }""", cancellationToken);
        await FindAsync("state=waiting&stop=ship", 1, cancellationToken);

        await Task.Delay(TimeSpan.FromSeconds(2.5), cancellationToken); // a slip counts in whole seconds
        await EsbAsync(["endpoints", "resume", Queue], cancellationToken);

        var run = await FindAsync("state=compensated", 1, cancellationToken);
        var letters = await Host.AskAsync("/api/dead-letters?endpoint=itinerary%3Aonboard", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.GetProperty("code").GetString(), Is.EqualTo("ESB-ITIN-EXPIRED"));
            Assert.That((Files("closed").Count, Files("shipments").Count, Files("onboarded").Count), Is.EqualTo((1, 0, 0)));
            Assert.That(letters.GetProperty("items")[0].GetProperty("reason").GetString(), Does.Contain("Undone: account"));
        }
    }

    private protected const string Queue = "itinerary:onboard";

    private protected async Task<JsonElement> FindParkedAsync(CancellationToken cancellationToken)
    {
        JsonElement line = default;
        await Host.WaitAsync(
            async token =>
            {
                var found = (await Host.AskAsync($"/api/parked?endpoint={Uri.EscapeDataString(Queue)}", token)).GetProperty("items");
                if (found.GetArrayLength() == 1)
                    line = found[0];
                return line.ValueKind == JsonValueKind.Object;
            },
            Limit,
            "to park a message",
            cancellationToken
        );
        return line;
    }

    private protected async Task<string> EsbAsync(string[] arguments, CancellationToken cancellationToken)
    {
        var (exitCode, output, error) = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            [.. arguments, "--url", Host.Management.OriginalString]
        );
        Assert.That(exitCode, Is.Zero, error);
        return output;
    }

    private protected async Task StartAsync(CancellationToken cancellationToken, string replaced = "-", string by = "-")
    {
        _folder = Directory.CreateTempSubdirectory("esb-itinerary-");
        await WriteAsync(cancellationToken, replaced, by);
        await StartHostAsync(cancellationToken);
    }

    private protected async Task WriteAsync(CancellationToken cancellationToken, string replaced = "-", string by = "-")
    {
        var text = await File.ReadAllTextAsync(Path.Combine(Repository.PathOf("samples", "itineraries"), "esb.json"), cancellationToken);
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            text.Replace(replaced, by, StringComparison.Ordinal).Replace("\"topics\"", $"{Sections} \"topics\"", StringComparison.Ordinal),
            cancellationToken
        );
    }

    private protected async Task StartHostAsync(CancellationToken cancellationToken) =>
        Host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);

    private protected async Task<HttpResponseMessage> PostAsync(
        string path,
        string body,
        CancellationToken cancellationToken,
        string? named = null
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Public, path))
        {
            Content = new StringContent(body, MediaTypeHeaderValue.Parse("application/json")),
        };
        if (named is not null)
            request.Headers.Add("x-itinerary", named);
        return await Host.Client.SendAsync(request, cancellationToken);
    }

    private protected async Task<JsonElement> FindAsync(string filter, int count, CancellationToken cancellationToken)
    {
        var found = new List<JsonElement>();
        await Host.WaitAsync(
            async token =>
                (
                    found = [.. (await Host.AskAsync($"/api/itineraries?limit=1000&{filter}", token)).GetProperty("items").EnumerateArray()]
                ).Count >= count,
            Limit,
            $"to have {count} messages with {filter}",
            cancellationToken
        );
        return found[0];
    }

    // The stops that the journey of a message has facts of; none before the first fact can be found.
    private async Task<string?[]> StopsAsync(string? id, CancellationToken cancellationToken) =>
        [
            .. (
                (await Host.FindAsync($"/api/messages/{id}", cancellationToken))?.GetProperty("items").EnumerateArray().AsEnumerable() ?? []
            )
                .Where(fact => fact.TryGetProperty("name", out var name) && name.GetString() == "itinerary-stop")
                .Select(fact => fact.GetProperty("step").GetString()),
        ];

    private protected async Task WaitForFilesAsync(string folder, int count, CancellationToken cancellationToken) =>
        await Host.WaitAsync(
            _ => Task.FromResult(Files(folder).Count >= count),
            Limit,
            $"to have written {count} files in {folder}",
            cancellationToken
        );

    private protected IReadOnlyList<string> Files(string folder)
    {
        var path = Path.Combine(_folder.FullName, "esb-data", folder);
        return Directory.Exists(path) ? Directory.GetFiles(path, "*.json") : [];
    }
}

/// <summary>On the embedded default.</summary>
[Category("Thorough")]
public sealed class EmbeddedItineraryTests : ItineraryContract
{
    private protected override string Sections => "";
}

/// <summary>On RabbitMQ and PostgreSQL.</summary>
public sealed class ServerItineraryTests : ItineraryContract
{
    private readonly string _run = $"{Guid.NewGuid():N}"[..10];

    private string Name => $"itin{_run}{TestContext.CurrentContext.Test.ID.Replace('-', '_')}";

    private protected override string Sections =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{Name}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_TEST_POSTGRES}", "schema": "{{Name}}" },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { ["ESB_TEST_RABBITMQ"] = Servers.RabbitMq, ["ESB_TEST_POSTGRES"] = Servers.Postgres };

    /// <summary>A stranger with rights on the queues copies a message that waits at a stop, edits it, and sends it again.</summary>
    [Category("Thorough")]
    [TestCase(EsbHeaders.Held, TestName = "Message_with_another_stop_than_the_one_at_which_it_waits_is_refused")]
    [TestCase(EsbHeaders.Itinerary, TestName = "Message_with_an_edited_slip_is_refused")]
    public async Task Message_that_was_edited_on_its_way_is_refused(string header, CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        var names = new RabbitMqNames(Name, "itineraries").Of(Queue);
        await using var connection = await RabbitMqAddress
            .Parse(Servers.RabbitMq)!
            .ToFactory("tests stranger")
            .CreateConnectionAsync(cancellationToken);
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var copies = (await channel.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        foreach (var slot in LaneSlots.OfLane(0, lanes: 1))
            await channel.QueueBindAsync(copies, names.Queue, slot, cancellationToken: cancellationToken);
        using var accepted = await PostAsync("/customers", """{ "customer": "ada" }""", cancellationToken);
        await FindAsync("state=completed", 1, cancellationToken);
        await WaitForFilesAsync("onboarded", 1, cancellationToken);
        var copy = (await channel.BasicGetAsync(copies, autoAck: true, cancellationToken))!;
        DeleteShipments();

        await SendAsync(text => text);
        await WaitForFilesAsync("shipments", 1, cancellationToken); // as it was, it is believed: it has the signature
        DeleteShipments();
        await SendAsync(text => text.Replace("ship", "invoice", StringComparison.Ordinal));
        var parked = await FindParkedAsync(cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(parked.GetProperty("failure").GetProperty("code").GetString(), Is.EqualTo("ESB-HOLD-STATE"));
            Assert.That(Files("shipments"), Is.Empty);
            Assert.That(Files("onboarded"), Has.Count.EqualTo(1));
        }

        async Task SendAsync(Func<string, string> edit)
        {
            var properties = new BasicProperties(copy.BasicProperties);
            properties.ClearUserId(); // else the broker would vouch for it, as tests and host are one user
            var text = Encoding.UTF8.GetString((byte[])properties.Headers![header]!);
            properties.Headers = new Dictionary<string, object?>(properties.Headers) { [header] = edit(text) };
            await channel.BasicPublishAsync("", names.Lane(0), mandatory: true, properties, copy.Body, cancellationToken);
        }

        void DeleteShipments()
        {
            foreach (var file in Files("shipments"))
                File.Delete(file);
        }
    }

    [Test, Category("Thorough")]
    public async Task Messages_of_an_itinerary_that_is_gone_wait_until_it_is_back(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await EsbAsync(["endpoints", "pause", Queue], cancellationToken);
        using var accepted = await PostAsync("/customers", """{ "customer": "ada" }""", cancellationToken);
        await FindAsync("state=waiting&stop=ship", 1, cancellationToken);
        await WriteAsync(cancellationToken, "\"onboard\"", "\"welcome\"");
        await EsbAsync(["reload"], cancellationToken);
        using var other = await PostAsync("/customers", """{ "customer": "bob" }""", cancellationToken);
        await FindAsync("state=completed&name=welcome", 1, cancellationToken);

        await WriteAsync(cancellationToken);
        await EsbAsync(["reload"], cancellationToken);
        await EsbAsync(["endpoints", "resume", Queue], cancellationToken);

        await FindAsync("state=completed&name=onboard", 1, cancellationToken);
        await WaitForFilesAsync("onboarded", 2, cancellationToken);
        Assert.That((Files("accounts").Count, Files("shipments").Count, Files("onboarded").Count), Is.EqualTo((2, 2, 2)));
    }
}
