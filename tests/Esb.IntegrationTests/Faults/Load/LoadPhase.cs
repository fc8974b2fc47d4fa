using System.Globalization;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Results;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>What was measured in one of several stretches of a run. Phases of one run are compared, because runs differ more among
/// themselves.</summary>
/// <param name="Goodput">Accepted per second.</param>
/// <param name="Deliveries">Arrivals per second at the first sink.</param>
/// <param name="Refusals">Refused per second.</param>
internal sealed record LoadPhase(
    double Goodput,
    double Deliveries,
    double Refusals,
    TimeSpan AcceptedP50,
    TimeSpan AcceptedP99,
    TimeSpan RefusedP99,
    ProcessorUse Cores
)
{
    /// <summary>Sends as fast as the senders can for a while. The plan needs a key prefix of its own.</summary>
    public static async Task<LoadPhase> RunAsync(FaultBench bench, LoadPlan plan, TimeSpan time, CancellationToken cancellationToken)
    {
        using var load = bench.Load(plan);
        var arrived = (await bench.Sinks[0].ReadAsync(cancellationToken)).Count;
        var endMeasuring = ProcessorUse.Begin(bench.Farm.Hosts[0].Process.Id);
        await load.RunAsync(cancellationToken, until: Task.Delay(time, cancellationToken));
        var cores = endMeasuring();
        arrived = (await bench.Sinks[0].ReadAsync(cancellationToken)).Count - arrived;

        var sent = bench
            .Ledger.Messages.Where(message => message.Key.StartsWith(plan.KeyPrefix, StringComparison.Ordinal))
            .ToLookup(message => message.Outcome);
        var (accepted, refused) = (sent[SendOutcome.Confirmed].ToList(), sent[SendOutcome.Refused].ToList());
        var phase = new LoadPhase(
            accepted.Count / time.TotalSeconds,
            arrived / time.TotalSeconds,
            refused.Count / time.TotalSeconds,
            Latencies.Percentile(accepted, 0.5),
            Latencies.Percentile(accepted, 0.99),
            Latencies.Percentile(refused, 0.99),
            cores
        );
        FaultBench.Log($"{plan.KeyPrefix} {phase}");
        return phase;
    }

    /// <summary>The median of each figure.</summary>
    public static LoadPhase MedianOf(IReadOnlyList<LoadPhase> phases) =>
        new(
            Medians.Of(phases.Select(phase => phase.Goodput)),
            Medians.Of(phases.Select(phase => phase.Deliveries)),
            Medians.Of(phases.Select(phase => phase.Refusals)),
            Medians.Of(phases.Select(phase => phase.AcceptedP50)),
            Medians.Of(phases.Select(phase => phase.AcceptedP99)),
            Medians.Of(phases.Select(phase => phase.RefusedP99)),
            new ProcessorUse(
                Medians.Of(phases.Select(phase => phase.Cores.Host)),
                Medians.Of(phases.Select(phase => phase.Cores.Test)),
                Medians.Of(phases.Select(phase => phase.Cores.Machine))
            )
        );

    public override string ToString() =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{Goodput:0}/s accepted (p50 {AcceptedP50.TotalMilliseconds:0} ms, p99 {AcceptedP99.TotalMilliseconds:0} ms), "
                + $"{Refusals:0}/s refused (p99 {RefusedP99.TotalMilliseconds:0} ms), {Deliveries:0}/s delivered; {Cores}"
        );
}
