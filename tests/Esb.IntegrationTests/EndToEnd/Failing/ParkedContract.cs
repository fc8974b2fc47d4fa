using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>What operators do with parked messages of a whole host, whatever transport and store it has.</summary>
[CancelAfter(120_000), Category("Failures")]
public abstract class ParkedContract : ShopHost
{
    private protected override string Delivery =>
        """
            "delivery": "ordered-by-key", "lanes": 4, "poolSize": 4, "processingThreads": 4
            """;

    // A second one, which stands as a whole.
    private protected override string Endpoints =>
        $$"""
            , "log": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{new Uri(Shop.Url, "/log")}}", "delivery": "ordered" }
            """;

    [Test]
    public async Task Parked_key_is_seen_and_goes_on_in_order_when_it_is_released(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body == Order("c/1", 0);
        foreach (var number in Enumerable.Range(0, 3))
            await OrderAsync(Order("c/1", number), cancellationToken);
        foreach (var number in Enumerable.Range(0, 3))
            await OrderAsync(Order("c-2", number), cancellationToken);
        await TakesAsync("/orders", ["c-2 0", "c-2 1", "c-2 2"], cancellationToken);
        await Host.WaitAsync(
            async token => (await LineAsync("shop", token))?.GetProperty("count").GetInt64() == 3,
            TimeSpan.FromSeconds(30),
            "to park three messages",
            cancellationToken
        );

        var line = await LineAsync("shop", cancellationToken);
        var messages = Items(await Host.AskAsync("/api/parked/shop/c%2F1", cancellationToken));
        var listed = await RunAsync(cancellationToken, "parked", "list");
        Shop.Refuses = _ => false;
        var (exitCode, _, error) = await RunAsync(cancellationToken, "parked", "release", "shop", "c/1", "--reason", "mended");
        await TakesAsync("/orders", ["c-2 0", "c-2 1", "c-2 2", "c/1 0", "c/1 1", "c/1 2"], cancellationToken);
        await Host.WaitAsync(
            async token => await LineAsync("shop", token) is null,
            TimeSpan.FromSeconds(30),
            "to free the key",
            cancellationToken
        );

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (line!.Value.GetProperty("line").GetString(), line.Value.GetProperty("failure").GetProperty("code").GetString()),
                Is.EqualTo(("c/1", "ESB-HTTP-STATUS"))
            );
            Assert.That(messages.Select(message => message.GetProperty("failures").GetArrayLength()), Is.EqualTo([1, 0, 0]));
            Assert.That(listed.Output, Does.Contain("c/1"));
            Assert.That(exitCode, Is.Zero, error);
        }
    }

    [Test, Category("Thorough")]
    public async Task Discarded_message_lets_its_key_go_on_with_the_rest(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body == Order("c/1", 0);
        foreach (var number in Enumerable.Range(0, 3))
            await OrderAsync(Order("c/1", number), cancellationToken);
        await Host.WaitAsync(
            async token => (await LineAsync("shop", token))?.GetProperty("count").GetInt64() == 3,
            TimeSpan.FromSeconds(30),
            "to park three messages",
            cancellationToken
        );

        var first = Items(await Host.AskAsync("/api/parked/shop/c%2F1", cancellationToken))[0].GetProperty("id").GetGuid();
        var (exitCode, _, error) = await RunAsync(
            cancellationToken,
            "parked",
            "discard",
            "shop",
            "c/1",
            "--message",
            $"{first}",
            "--reason",
            "paid by hand"
        );
        await TakesAsync("/orders", ["c/1 1", "c/1 2"], cancellationToken);

        var discarded = Items(await Host.AskAsync("/api/messages?endpoint=shop&kind=discarded", cancellationToken)).Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(exitCode, Is.Zero, error);
            Assert.That(
                (discarded.GetProperty("messageId").GetGuid(), discarded.GetProperty("reason").GetString()),
                Is.EqualTo((first, "paid by hand"))
            );
            Assert.That(discarded.GetProperty("fields").GetProperty("operator").GetString(), Is.EqualTo(Environment.UserName));
        }
    }

    [Test, Category("Thorough")]
    public async Task Endpoint_that_stands_at_a_message_is_one_entry_and_is_moved_on(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body == Order("c-1", 0) || body == Order("c-2", 1);
        foreach (var (customer, number) in new[] { ("c-1", 0), ("c-2", 1), ("c-3", 2) })
            await OrderAsync(Order(customer, number), cancellationToken);
        await Host.WaitAsync(
            async token => await LineAsync("log", token) is not null,
            TimeSpan.FromSeconds(30),
            "to stand still",
            cancellationToken
        );

        var line = await LineAsync("log", cancellationToken);
        var at = Items(await Host.AskAsync("/api/parked/log/*", cancellationToken)).Single().GetProperty("id").GetGuid();
        var released = await RunAsync(cancellationToken, "parked", "release", "log", "*"); // still refused: it stands there again
        var discarded = released;
        await Host.WaitAsync(
            async token =>
                (
                    discarded = await RunAsync(token, "parked", "discard", "log", "*", "--message", $"{at}", "--reason", "paid by hand")
                ).ExitCode == 0,
            TimeSpan.FromSeconds(30),
            "to stand still again, and discard it",
            cancellationToken
        );
        await Host.WaitAsync(
            async token => await StandsElsewhereAsync(at, token),
            TimeSpan.FromSeconds(30),
            "to stand at the next one",
            cancellationToken
        );
        Shop.Refuses = _ => false;
        await RunAsync(cancellationToken, "parked", "release", "log", "*");
        await TakesAsync("/log", ["c-2 1", "c-3 2"], cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(line!.Value.GetProperty("line").GetString(), Is.EqualTo("*"));
            Assert.That((released.ExitCode, discarded.ExitCode), Is.EqualTo((0, 0)), discarded.Error);
        }
    }

    private async Task<bool> StandsElsewhereAsync(Guid before, CancellationToken cancellationToken) =>
        await LineAsync("log", cancellationToken) is not null
        && Items(await Host.AskAsync("/api/parked/log/*", cancellationToken)).Single().GetProperty("id").GetGuid() != before;

    private async Task<JsonElement?> LineAsync(string endpoint, CancellationToken cancellationToken) =>
        Items(await Host.AskAsync($"/api/parked?endpoint={endpoint}", cancellationToken)) is [var line, ..] ? line : null;

    private async Task TakesAsync(string path, IReadOnlyList<string> orders, CancellationToken cancellationToken)
    {
        await Host.WaitAsync(
            _ => Task.FromResult(Taken(path).Count >= orders.Count),
            TimeSpan.FromSeconds(30),
            $"to deliver {orders.Count} orders",
            cancellationToken
        );
        Assert.That(Taken(path), Is.EqualTo(orders));
    }

    private IReadOnlyList<string> Taken(string path) =>
        [
            .. Shop.At(path)
                .Select(body => JsonDocument.Parse(body).RootElement)
                .Select(order => $"{order.GetProperty("customer").GetString()} {order.GetProperty("number").GetInt32()}"),
        ];

    private static string Order(string customer, int number) => $$"""{"customer":"{{customer}}","number":{{number}}}""";
}
