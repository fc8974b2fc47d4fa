using System.Globalization;

namespace Esb.Core.Messages;

/// <summary>Number of times a message, or the message it was made from, has left the bus and returned: ends routing loops.</summary>
/// <remarks>
/// The number travels as the header <see cref="EsbHeaders.Hops"/> over topics, through retries and transactions, and over external systems
/// if the protocol of an endpoint can carry it (HTTP: <c>Via</c>). It is accepted from any sender: a number that is too large only ends its
/// own message. Replays by an operator begin at 0.
/// </remarks>
public static class MessageHops
{
    /// <summary>Code of a message that would leave the bus more than <see cref="Most"/> times.</summary>
    public const string Code = "ESB-ROUTE-HOPS";

    /// <summary>Maximum number of times a message may leave the bus.</summary>
    public const int Most = 32;

    /// <summary>Number of times it has left the bus so far; 0 if not counted.</summary>
    public static int Of(EsbMessage message) =>
        int.TryParse(message.Headers[EsbHeaders.Hops], NumberStyles.None, CultureInfo.InvariantCulture, out var hops) ? hops : 0;

    /// <summary>The message with another number.</summary>
    public static EsbMessage Set(EsbMessage message, int hops) =>
        Of(message) == hops
            ? message
            : message with
            {
                Headers =
                    hops == 0
                        ? message.Headers.Without(EsbHeaders.Hops)
                        : message.Headers.With(EsbHeaders.Hops, hops.ToString(CultureInfo.InvariantCulture)),
            };
}
