using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Lanes;

/// <summary>The lanes of an endpoint that this host works on. Each is taken over with the first delivery of a session, so that whoever had it before is kept out. Thread-safe.</summary>
internal sealed partial class LaneBook(string endpoint, IParkingStore store, Patience patience, FreezeWatch freezes, TimeProvider time, ILogger<LaneBook> logger)
{
    /// <summary>The code of a lane that somebody else has.</summary>
    public const string LostCode = "ESB-LANE-LOST";

    // By then a host whose connection is lost knows it: taking the lane back at once would throw out the rightful owner.
    private static readonly TimeSpan Exile = TimeSpan.FromSeconds(30);

    private readonly ConcurrentDictionary<int, Lane> _lanes = [];

    /// <summary>The lane that a delivery came by.</summary>
    /// <exception cref="EsbException"><c>ESB-LANE-LOST</c>: somebody else has it.</exception>
    public async Task<Lane> OfAsync(DeliverySource source, CancellationToken waiting)
    {
        if (_lanes.TryGetValue(source.Lane, out var lane) && lane.Session == source.Session)
        {
            if (lane.LostAt is not { } lostAt) return lane;
            if (time.GetElapsedTime(lostAt) < Exile) throw Lost(source.Lane);
        }

        var freeze = freezes.Count;
        var owner = await patience.InsistAsync(() => store.TakeLaneAsync(endpoint, source.Lane, waiting), waiting);
        LogTaken(source.Lane, endpoint, owner.ParkedKeys.Count);
        return _lanes[source.Lane] = new Lane(source.Session, owner) { VerifiedFreeze = freeze };
    }

    /// <summary>Makes sure, after the process stood still, that the lane is still ours.</summary>
    /// <exception cref="EsbException"><c>ESB-LANE-LOST</c>.</exception>
    public async Task VerifyAsync(Lane lane, CancellationToken waiting)
    {
        var freeze = freezes.Count;
        if (lane.VerifiedFreeze == freeze) return;
        await patience.InsistAsync(() => store.VerifyAsync(lane.Owner, waiting), waiting);
        lane.VerifiedFreeze = freeze;
    }

    /// <summary>Somebody else has the lane: nothing of it is worked on here any more.</summary>
    public void Lose(int number)
    {
        if (!_lanes.TryGetValue(number, out var lane) || lane.LostAt is not null) return;
        lane.LostAt = time.GetTimestamp();
        LogLost(number, endpoint);
    }

    private EsbException Lost(int lane) => new(LostCode, $"Somebody else works on lane {lane} of the endpoint '{endpoint}' now.", FaultKind.Internal);

    [LoggerMessage(EventId = 2440, Level = LogLevel.Debug, Message = "Took over lane {Lane} of {Endpoint}; {Count} keys are parked")]
    private partial void LogTaken(int lane, string endpoint, int count);

    [LoggerMessage(EventId = 2441, Level = LogLevel.Warning, Message = "Lane {Lane} of {Endpoint} is worked on by another host now; what came by it here goes back")]
    private partial void LogLost(int lane, string endpoint);
}
