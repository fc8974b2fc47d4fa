using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Bodies that travel as a reference, from the intake to the replay of the dead letter, wherever they are kept.</summary>
[CancelAfter(120_000)]
public abstract class LargeBodyContract : ShopHost
{
    private static readonly string Order = $$"""{ "customer": "c-1", "lines": "{{new string('x', 300_000)}}" }""";

    [Test]
    public async Task Large_order_that_fails_is_kept_whole_and_arrives_after_its_replay(CancellationToken cancellationToken)
    {
        Shop.Refuses = _ => true;
        var id = await OrderAsync(Order, cancellationToken);
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/dead-letters?endpoint=shop", token)).Count == 1,
            TimeSpan.FromSeconds(30),
            "to keep the dead letter",
            cancellationToken
        );
        await WaitUntilParkedAsync(cancellationToken);

        var letter = Items(await Host.AskAsync("/api/dead-letters?endpoint=shop", cancellationToken))[0];
        var kept = await CountBodiesAsync();
        await RemoveBodiesAsync(); // as if their time were over
        Shop.Refuses = _ => false;
        await PostAsync("/api/replays", """{ "filter": { "endpoint": "shop" } }""", cancellationToken);
        await ReleaseAsync(cancellationToken);
        await Host.WaitAsync(
            _ => Task.FromResult(Shop.Taken.Count == Copies),
            TimeSpan.FromSeconds(30),
            "to deliver the order",
            cancellationToken
        );

        using (Assert.EnterMultipleScope())
        {
            Assert.That(letter.GetProperty("bodyBytes").GetInt64(), Is.EqualTo(Order.Length));
            Assert.That(kept, Is.EqualTo(2), "as it was published, and as a dead letter on its way to the store");
            Assert.That(Shop.Taken.Select(taken => (taken.Message, taken.Body)), Is.All.EqualTo((id, Order)));
            Assert.That(await CountBodiesAsync(), Is.EqualTo(1), "as it was replayed");
        }
    }

    /// <summary>How often the order arrives.</summary>
    private protected virtual int Copies => 1;

    private protected abstract Task<int> CountBodiesAsync();

    private protected abstract Task RemoveBodiesAsync();

    private protected virtual Task WaitUntilParkedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    private protected virtual Task ReleaseAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
