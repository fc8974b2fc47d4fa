using System.Globalization;

namespace Esb.Topics.RabbitMq.Replies;

/// <summary>Where the reply to a request goes, as a text that outlives the process which took the request. Immutable.</summary>
/// <param name="Queue">The queue.</param>
/// <param name="RequestId">The id that correlates the reply.</param>
/// <param name="ExpiresAt">When the requester stops waiting.</param>
internal sealed record ReplyAddress(string Queue, string RequestId, DateTimeOffset ExpiresAt)
{
    // The names of foreign requesters may hold anything but a line break.
    private const char Separator = '\n';

    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{ExpiresAt.ToUnixTimeMilliseconds()}{Separator}{Queue}{Separator}{RequestId}");

    /// <summary>Reads an address; null if it is that of another transport.</summary>
    public static ReplyAddress? Parse(string text) =>
        text.Split(Separator, 3) is [var expires, var queue, var id]
        && long.TryParse(expires, NumberStyles.None, CultureInfo.InvariantCulture, out var milliseconds)
            ? new ReplyAddress(queue, id, DateTimeOffset.FromUnixTimeMilliseconds(milliseconds))
            : null;
}
