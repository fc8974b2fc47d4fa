using System.Globalization;

namespace Esb.Core.Messages;

/// <summary>How often a message, or the one that it was made of, has left the bus and come back: what is routed in a circle ends here.</summary>
/// <remarks>
/// The number travels as the header <see cref="EsbHeaders.Hops"/> over topics, through retries and transactions, and as the protocol of an endpoint can tell it
/// over the outside (HTTP: <c>Via</c>). It is believed of everyone: one that is too large only ends the message that carries it. What an operator replays begins at 0.
/// </remarks>
public static class MessageHops
{
    /// <summary>The code of a message that would leave the bus once more than <see cref="Most"/> times.</summary>
    public const string Code = "ESB-ROUTE-HOPS";

    /// <summary>How often a message may leave the bus.</summary>
    public const int Most = 32;

    /// <summary>How often it has left the bus so far; 0 where nobody counted.</summary>
    public static int Of(EsbMessage message) => int.TryParse(message.Headers[EsbHeaders.Hops], NumberStyles.None, CultureInfo.InvariantCulture, out var hops) ? hops : 0;

    /// <summary>The message with another number.</summary>
    public static EsbMessage Set(EsbMessage message, int hops) => Of(message) == hops
        ? message
        : message with { Headers = hops == 0 ? message.Headers.Without(EsbHeaders.Hops) : message.Headers.With(EsbHeaders.Hops, hops.ToString(CultureInfo.InvariantCulture)) };
}
