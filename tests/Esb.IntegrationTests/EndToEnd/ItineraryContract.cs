using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The sample of itineraries on a whole host.</summary>
[CancelAfter(180_000)]
public abstract class ItineraryContract
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private DirectoryInfo _folder = null!;

    private protected HostProcess Host { get; private set; } = null!;

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
        var journey = await Host.AskAsync($"/api/messages/{id}", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.GetProperty("stop").GetString(), Is.EqualTo("invoice"));
            Assert.That(shown.GetProperty("stops").GetString(), Does.Contain("wait(ship) → stop(ship"));
            Assert.That(
                journey
                    .GetProperty("items")
                    .EnumerateArray()
                    .Where(fact => fact.TryGetProperty("name", out var name) && name.GetString() == "itinerary-stop")
                    .Select(fact => fact.GetProperty("step").GetString()),
                Is.EquivalentTo(new[] { "1", "account", "ship", "invoice" })
            );
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

    [TestCase("/quotes", """{ "amount": 5 }""", null, 200, "small")]
    [TestCase("/quotes", """{ "amount": 5000 }""", null, 200, "large: large")]
    [TestCase("/named", "{}", "quote-small", 200, "small")]
    [TestCase("/named", "{}", "onboard", 422, "ESB-ITIN-NONE")]
    public async Task Itinerary_is_chosen_by_the_message_and_answers(
        string path,
        string body,
        string? named,
        int status,
        string text,
        CancellationToken cancellationToken
    )
    {
        await StartAsync(cancellationToken);

        using var response = await PostAsync(path, body, cancellationToken, named);

        Assert.That((int)response.StatusCode, Is.EqualTo(status), Host.Output);
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain(text));
    }

    private protected async Task StartAsync(CancellationToken cancellationToken)
    {
        _folder = Directory.CreateTempSubdirectory("esb-itinerary-");
        var text = await File.ReadAllTextAsync(Path.Combine(Repository.PathOf("samples", "itineraries"), "esb.json"), cancellationToken);
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            text.Replace("\"topics\"", $"{Sections} \"topics\"", StringComparison.Ordinal),
            cancellationToken
        );
        await StartHostAsync(cancellationToken);
    }

    private protected async Task StartHostAsync(CancellationToken cancellationToken) =>
        Host = await HostProcess.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);

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
}
