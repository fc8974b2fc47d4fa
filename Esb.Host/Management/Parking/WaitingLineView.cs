using Esb.Core.Replays;
using Esb.Core.Storage;

namespace Esb.Host.Management.Parking;

/// <summary>A line of waiting messages in API responses.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Line">The line name in paths; see <see cref="LineName"/>.</param>
/// <param name="Key">The key; null for messages without a key and for a whole endpoint.</param>
/// <param name="Count">The number of waiting messages; for a whole endpoint only the first counts.</param>
/// <param name="Since">The time since which the line waits.</param>
/// <param name="DueAt">The time of the next automatic attempt.</param>
/// <param name="Failure">The last failure of the first message.</param>
internal sealed record WaitingLineView(
    string Endpoint,
    string Line,
    string? Key,
    long Count,
    DateTimeOffset Since,
    DateTimeOffset? DueAt,
    FailedAttempt? Failure
)
{
    public static WaitingLineView Of(WaitingLine line) =>
        new(
            line.Endpoint,
            LineName.Of(line.Key),
            string.IsNullOrEmpty(line.Key) ? null : line.Key,
            line.Count,
            line.Since,
            line.DueAt,
            line.Failure
        );
}
