using System.Collections.Concurrent;
using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps.Taps;

/// <summary>The wire taps of all processes; its stop waits for the copies in flight. Thread-safe.</summary>
internal sealed class WireTaps(IOutgoingPublisher publisher, TimeProvider time, ILoggerFactory loggers) : IBusPart
{
    private readonly ConcurrentBag<WireTap> _taps = [];

    /// <summary>Stops after the intake and before the topics.</summary>
    public BusStage Stage => BusStage.Outbound;

    // Its copies reach their queues while these are still processed.
    public IReadOnlyList<Type> StartsAfter => [typeof(IEndpointCaller)];

    public WireTap Add(string step, WireTapConfig settings)
    {
        var tap = new WireTap(step, settings, publisher, time, loggers.CreateLogger<WireTap>());
        _taps.Add(tap);
        return tap;
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StopAsync(CancellationToken cancellationToken) =>
        await Task.WhenAll(_taps.Select(tap => tap.DrainAsync(cancellationToken))).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
}
