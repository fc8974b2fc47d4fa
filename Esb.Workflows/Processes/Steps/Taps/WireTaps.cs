using System.Collections.Concurrent;
using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps.Taps;

/// <summary>The wire taps of all processes; stopping, it waits for the copies that are on their way. Thread-safe.</summary>
internal sealed class WireTaps(IOutgoingPublisher publisher, TimeProvider time, ILoggerFactory loggers) : IBusPart
{
    private readonly ConcurrentBag<WireTap> _taps = [];

    /// <summary>Stops when nothing comes in any more, and before the topics do.</summary>
    public BusStage Stage => BusStage.Outbound;

    // Its copies go to their queues while those are still worked on.
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
