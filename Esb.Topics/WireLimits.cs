using System.Text;
using Esb.Core.Messages;

namespace Esb.Topics;

/// <summary>What fits into a message of AMQP beside its body: more would cost the channel, or the connection.</summary>
internal static class WireLimits
{
    /// <summary>The longest of AMQP's short strings, in bytes.</summary>
    public const int MaxShortBytes = 255;

    /// <summary>The longest correlation id that is taken in, in characters.</summary>
    public const int MaxCorrelationLength = 128;

    /// <summary>What is too large about a message's headers and key, as a sentence; null when nothing is.</summary>
    public static string? ExcessOf(EsbMessage message)
    {
        var size = HeaderRules.Measure(message.Headers) + (message.Key is null ? 0 : Encoding.UTF8.GetByteCount(message.Key));
        return size > HeaderRules.MaxTotalBytes ? $"The headers take {size} bytes; {HeaderRules.MaxTotalBytes} are the most." : null;
    }

    /// <summary>Whether a text fits into a short string.</summary>
    public static bool IsShort(string? text) => text is null || text.Length <= MaxShortBytes / 3 || Encoding.UTF8.GetByteCount(text) <= MaxShortBytes;
}
