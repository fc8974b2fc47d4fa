using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Lanes;

/// <summary>The lanes of an endpoint that this host processes. Each is taken over with the first delivery of a session, which fences off
/// its previous owner. Thread-safe.</summary>
internal sealed partial class LaneBook(
    string endpoint,
    IParkingStore store,
    Patience patience,
    FreezeWatch freezes,
    TimeProvider time,
    ILogger<LaneBook> logger
)
{
    /// <summary>The error code of a lane that another host owns.</summary>
    public const string LostCode = "ESB-LANE-LOST";

    // After this time a disconnected host has noticed its loss. Taking the lane back earlier would evict the rightful owner.
    private static readonly TimeSpan Exile = TimeSpan.FromSeconds(30);

    private readonly ConcurrentDictionary<int, Lane> _lanes = [];
    private readonly SemaphoreSlim _taking = new(1, 1);

    /// <summary>Returns the lane of a delivery.</summary>
    /// <exception cref="EsbException"><c>ESB-LANE-LOST</c>: another host owns the lane.</exception>
    public async Task<Lane> OfAsync(DeliverySource source, CancellationToken waiting)
    {
        if (Find(source) is { } lane)
            return lane;
        await _taking.WaitAsync(waiting);
        try
        {
            return Find(source) ?? await TakeAsync(source, waiting); // another delivery of the lane may have taken it meanwhile
        }
        finally
        {
            _taking.Release();
        }
    }

    /// <summary>Verifies after a process freeze that this host still owns the lane.</summary>
    /// <exception cref="EsbException"><c>ESB-LANE-LOST</c>.</exception>
    public async Task VerifyAsync(Lane lane, CancellationToken waiting)
    {
        var freeze = freezes.Count;
        if (lane.VerifiedFreeze == freeze)
            return;
        await patience.InsistAsync(() => store.VerifyAsync(lane.Owner, waiting), waiting);
        lane.VerifiedFreeze = freeze;
    }

    /// <summary>Marks the lane as owned by another host: this host stops processing it.</summary>
    public void Lose(int number)
    {
        if (!_lanes.TryGetValue(number, out var lane) || lane.LostAt is not null)
            return;
        lane.LostAt = time.GetTimestamp();
        LogLost(number, endpoint);
    }

    private Lane? Find(DeliverySource source)
    {
        if (!_lanes.TryGetValue(source.Lane, out var lane) || lane.Session != source.Session)
            return null;
        if (lane.LostAt is not { } lostAt)
            return lane;
        return time.GetElapsedTime(lostAt) < Exile ? throw Lost(source.Lane) : null;
    }

    private async Task<Lane> TakeAsync(DeliverySource source, CancellationToken waiting)
    {
        var freeze = freezes.Count;
        var owner = await patience.InsistAsync(() => store.TakeLaneAsync(endpoint, source.Lane, waiting), waiting);
        LogTaken(source.Lane, endpoint, owner.ParkedKeys.Count);
        return _lanes[source.Lane] = new Lane(source.Session, owner) { VerifiedFreeze = freeze };
    }

    private EsbException Lost(int lane) =>
        new(LostCode, $"Somebody else works on lane {lane} of the endpoint '{endpoint}' now.", FaultKind.Internal);

    [LoggerMessage(EventId = 2440, Level = LogLevel.Debug, Message = "Took over lane {Lane} of {Endpoint}; {Count} keys are parked")]
    private partial void LogTaken(int lane, string endpoint, int count);

    [LoggerMessage(
        EventId = 2441,
        Level = LogLevel.Warning,
        Message = "Lane {Lane} of {Endpoint} was taken over by another host; its deliveries here go back to the queue"
    )]
    private partial void LogLost(int lane, string endpoint);
}
