using SideBySide.Measuring;

namespace SideBySide.Topics;

/// <summary>What takes orders from a queue and inserts them: so many are published as should take the time, then all are waited
/// for.</summary>
/// <remarks>The rate is that of the rows, from the first to the last, by the clock of the database.</remarks>
internal sealed class InsertTarget(string name, string settings, Meter meter, OrderPublisher publisher, OrdersTable table, Address address)
    : ITarget
{
    private const int FewestOrders = 200;
    private static int _runs;

    private double _perSecond = 1_000;

    public string Name { get; } = name;

    public string Settings => settings;

    public string? WarmKey { get; init; } = name;

    /// <summary>Whether rows must be in the order of publishing.</summary>
    public bool IsOrdered { get; init; }

    public async Task<string?> CheckAsync(CancellationToken cancellationToken) => (await SendAsync(FewestOrders, cancellationToken)).Flaw;

    public Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken) =>
        meter.MeasureAsync(
            async token =>
            {
                var (messages, time) = (0L, TimeSpan.Zero);
                // More than once only where the rate was not known: during the warm-up.
                while (time < duration * 0.6)
                {
                    var burst = await SendAsync(Math.Max(FewestOrders, (int)(_perSecond * (duration - time).TotalSeconds)), token);
                    if (burst.Flaw is not null)
                        return burst;
                    (messages, time, _perSecond) = (
                        messages + burst.Messages,
                        time + TimeSpan.FromSeconds(burst.Messages / burst.PerSecond),
                        burst.PerSecond
                    );
                }

                return new Load(messages, messages / time.TotalSeconds, null);
            },
            cancellationToken
        );

    private async Task<Load> SendAsync(int count, CancellationToken cancellationToken)
    {
        var run = FormattableString.Invariant($"r{Interlocked.Increment(ref _runs)}");
        await table.ClearAsync(cancellationToken);
        await publisher.PublishAsync(address, run, 1, count, cancellationToken);
        await table.WaitAsync(count, cancellationToken);
        if (await table.FlawAsync(run, count, IsOrdered, cancellationToken) is { } flaw)
            return new Load(count, 0, flaw);
        return new Load(count, count / (await table.DurationAsync(cancellationToken)).TotalSeconds, null);
    }
}
