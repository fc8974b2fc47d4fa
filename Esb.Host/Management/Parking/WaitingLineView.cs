using Esb.Core.Replays;
using Esb.Core.Storage;

namespace Esb.Host.Management.Parking;

/// <summary>A line of waiting messages as the API shows it.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Line">Its name in paths; see <see cref="LineName"/>.</param>
/// <param name="Key">The key; null for messages without one, and for a whole endpoint.</param>
/// <param name="Count">How many wait; of a whole endpoint only the first is counted.</param>
/// <param name="Since">Since when.</param>
/// <param name="DueAt">When it is tried again by itself.</param>
/// <param name="Failure">The last failure of the first message.</param>
internal sealed record WaitingLineView(string Endpoint, string Line, string? Key, long Count, DateTimeOffset Since, DateTimeOffset? DueAt, FailedAttempt? Failure)
{
    public static WaitingLineView Of(WaitingLine line) =>
        new(line.Endpoint, LineName.Of(line.Key), string.IsNullOrEmpty(line.Key) ? null : line.Key, line.Count, line.Since, line.DueAt, line.Failure);
}
