using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>Lists of the management API, walked in pages on a whole host, whatever transport and store it has.</summary>
[CancelAfter(180_000)]
public abstract class ListContract : ShopHost
{
    private const int Keys = 5;

    private protected override string Endpoints =>
        $$"""
            , "keyed": { "type": "http-inbound", "path": "/keyed", "publish": "keyed.new" }
            , "by-key": { "type": "http-outbound", "subscribe": ["keyed.#"], "url": "{{Shop.Url}}", "delivery": "ordered-by-key", "retry": { "immediate": 0, "delays": [] } }
            """;

    private protected override string Topics => """, "keyed": { "key": { "jsonpath": "$.customer" } }""";

    [Test]
    public async Task Pages_of_every_list_hold_what_the_whole_holds_once(CancellationToken cancellationToken)
    {
        await MakeLettersAsync(5, cancellationToken);
        foreach (var customer in Enumerable.Range(0, Keys).SelectMany(key => Enumerable.Repeat($"c/{key}", key == 0 ? 5 : 1)))
        {
            using var sent = await Host.PostAsync("/keyed", $$"""{"customer":"{{customer}}"}""", "application/json", cancellationToken);
            sent.EnsureSuccessStatusCode();
        }

        foreach (var _ in Enumerable.Range(0, 3))
        {
            var letter = Items(await Host.AskAsync("/api/dead-letters?state=open&limit=1", cancellationToken))[0];
            var job = await PostAsync($"/api/dead-letters/{letter.GetProperty("id").GetString()}/replay", "{}", cancellationToken);
            using var cancelled = await PostedAsync($"/api/replays/{job.GetProperty("id").GetString()}/cancel", "{}", cancellationToken);
            var answer = await cancelled.Content.ReadAsStringAsync(cancellationToken);
            Assert.That((int)cancelled.StatusCode, Is.InRange(200, 299).Or.EqualTo(409), $"it may be over already; {answer}");
            await Host.WaitAsync(
                async token => Items(await Host.AskAsync("/api/dead-letters?state=open&endpoint=shop", token)).Count == 5,
                TimeSpan.FromSeconds(60),
                "to have the letter open again, as it was or come back",
                cancellationToken
            );
        }

        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/parked", token)).Sum(line => line.GetProperty("count").GetInt64()) == Keys + 4,
            TimeSpan.FromSeconds(60),
            "to park the keys",
            cancellationToken
        );

        using (Assert.EnterMultipleScope())
        {
            await WalksAsync("/api/parked", line => line.GetProperty("line").GetString()!, Keys, cancellationToken);
            await WalksAsync("/api/parked/by-key/c%2F0", IdOf, 5, cancellationToken);
            await WalksAsync("/api/dead-letters?endpoint=shop", IdOf, 5, cancellationToken);
            await WalksAsync("/api/replays", IdOf, 3, cancellationToken);
            await WalksAsync("/api/messages?endpoint=shop&kind=dead-lettered", IdOf, 5, cancellationToken);
        }
    }

    private static string IdOf(JsonElement item) => item.GetProperty("id").GetString()!;

    private async Task WalksAsync(string list, Func<JsonElement, string> idOf, int least, CancellationToken cancellationToken)
    {
        var separator = list.Contains('?', StringComparison.Ordinal) ? '&' : '?';
        var whole = Items(await Host.AskAsync($"{list}{separator}limit=1000", cancellationToken)).Select(idOf).ToList();
        var walked = new List<string>();
        for (var next = ""; next is not null; )
        {
            var page = await Host.AskAsync(
                $"{list}{separator}limit=2{(next.Length == 0 ? "" : $"&after={Uri.EscapeDataString(next)}")}",
                cancellationToken
            );
            Assert.That(Items(page), Has.Count.LessThanOrEqualTo(2), list);
            walked.AddRange(Items(page).Select(idOf));
            next = page.TryGetProperty("next", out var place) ? place.GetString() : null;
        }

        Assert.That(walked, Is.EqualTo(whole), list);
        Assert.That(walked, Has.Count.GreaterThanOrEqualTo(least), list);
    }
}

/// <summary>Lists on the embedded default.</summary>
[Category("Thorough")]
public sealed class EmbeddedListTests : ListContract
{
    private protected override string Sections => "";
}

/// <summary>Lists on RabbitMQ and PostgreSQL, and what proves that facts are unchanged.</summary>
public sealed class ServerListTests : ListContract
{
    private ServerSections _servers = null!;

    private protected override string Sections => _servers.Next();

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.ShareAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();
}
