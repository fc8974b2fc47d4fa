using System.Text;
using Esb.Core.Messages;

namespace Esb.Topics;

/// <summary>Limits of an AMQP message apart from its body: exceeding them would cost the channel or the connection.</summary>
internal static class WireLimits
{
    /// <summary>The maximum length of an AMQP short string, in bytes.</summary>
    public const int MaxShortBytes = 255;

    /// <summary>The maximum length of an accepted correlation id, in characters.</summary>
    public const int MaxCorrelationLength = 128;

    /// <summary>Returns a sentence that describes why a message's headers and key are too large; null if they are not.</summary>
    public static string? ExcessOf(EsbMessage message)
    {
        var size = HeaderRules.Measure(message.Headers) + (message.Key is null ? 0 : Encoding.UTF8.GetByteCount(message.Key));
        return size > HeaderRules.MaxTotalBytes ? $"The headers take {size} bytes; {HeaderRules.MaxTotalBytes} are the most." : null;
    }

    /// <summary>True if a text fits into a short string.</summary>
    public static bool IsShort(string? text) =>
        text is null || text.Length <= MaxShortBytes / 3 || Encoding.UTF8.GetByteCount(text) <= MaxShortBytes;
}
