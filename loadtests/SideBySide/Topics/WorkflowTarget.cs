using SideBySide.Measuring;

namespace SideBySide.Topics;

/// <summary>Instances of one workflow: so many are started as should take the time, then the end of all is waited for.</summary>
/// <remarks>The rate is that of the instances, from the first start to the last end, by the clock of the database.</remarks>
internal sealed class WorkflowTarget(string name, string settings, Meter meter, WorkflowBench bench, WorkflowKind kind) : ITarget
{
    private const int FewestInstances = 100;
    private static int _runs;

    private double _perSecond = 500;

    public string Name { get; } = name;

    public string Settings => settings;

    public async Task<string?> CheckAsync(CancellationToken cancellationToken) => (await RunAsync(FewestInstances, cancellationToken)).Flaw;

    public Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken) =>
        meter.MeasureAsync(
            async token =>
            {
                var (instances, time) = (0L, TimeSpan.Zero);
                // More than once only where the rate was not known: during the warm-up.
                while (time < duration * 0.6)
                {
                    var burst = await RunAsync(Math.Max(FewestInstances, (int)(_perSecond * (duration - time).TotalSeconds)), token);
                    if (burst.Flaw is not null)
                        return burst;
                    (instances, time, _perSecond) = (
                        instances + burst.Messages,
                        time + TimeSpan.FromSeconds(burst.Messages / burst.PerSecond),
                        burst.PerSecond
                    );
                }

                var counted = kind.CountsMessages ? instances * kind.MessagesForEach : instances;
                return new Load(counted, counted / time.TotalSeconds, null);
            },
            cancellationToken
        );

    private async Task<Load> RunAsync(int instances, CancellationToken cancellationToken)
    {
        var run = FormattableString.Invariant($"r{Interlocked.Increment(ref _runs)}");
        var (flaw, time) = await bench.RunAsync(kind, run, instances, cancellationToken);
        return new Load(instances, flaw is null ? instances / time.TotalSeconds : 0, flaw);
    }
}
