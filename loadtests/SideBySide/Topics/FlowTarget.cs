using System.Diagnostics;
using SideBySide.Measuring;

namespace SideBySide.Topics;

/// <summary>Orders that are published, and what a host makes of them: the rate is from the first publish to the last message that comes
/// out.</summary>
/// <param name="name">As it stands in tables.</param>
/// <param name="meter">Of the host.</param>
/// <param name="publisher">Publishes the orders.</param>
/// <param name="counter">Counts what comes out: one message for each order.</param>
/// <param name="address">Where the orders go.</param>
/// <param name="copies">Messages of each order that go in.</param>
/// <param name="worth">What an order counts in the rate: its hops, or its messages.</param>
internal sealed class FlowTarget(
    string name,
    string settings,
    Meter meter,
    OrderPublisher publisher,
    PublishedCounter counter,
    Address address,
    int copies,
    int worth
) : ITarget
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private static int _runs;

    private double _ordersPerSecond = 1_000.0 / worth;

    public string Name { get; } = name;

    public string Settings => settings;

    public async Task<string?> CheckAsync(CancellationToken cancellationToken) => (await RunAsync(Fewest, cancellationToken)).Flaw;

    private int Fewest => Math.Max(5, 200 / copies);

    public Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken) =>
        meter.MeasureAsync(
            async token =>
            {
                var (orders, time) = (0L, TimeSpan.Zero);
                // More than once only where the rate was not known: during the warm-up.
                while (time < duration * 0.6)
                {
                    var burst = await RunAsync(Math.Max(Fewest, (int)(_ordersPerSecond * (duration - time).TotalSeconds)), token);
                    if (burst.Flaw is not null)
                        return burst;
                    (orders, time, _ordersPerSecond) = (
                        orders + burst.Messages,
                        time + TimeSpan.FromSeconds(burst.Messages / burst.PerSecond),
                        burst.PerSecond
                    );
                }

                return new Load(orders * worth, orders * worth / time.TotalSeconds, null);
            },
            cancellationToken
        );

    private async Task<Load> RunAsync(int orders, CancellationToken cancellationToken)
    {
        var run = FormattableString.Invariant($"f{Interlocked.Increment(ref _runs)}");
        counter.Reset();
        var began = Stopwatch.GetTimestamp();
        for (var copy = 0; copy < copies; copy++)
            await publisher.PublishAsync(address, run, 1, orders, cancellationToken);
        await counter.WaitAsync(orders, Patience, cancellationToken);
        return counter.Count == orders
            ? new Load(orders, orders / Stopwatch.GetElapsedTime(began, counter.Last).TotalSeconds, null)
            : new Load(orders, 0, $"{counter.Count} of {orders} messages came out");
    }
}
