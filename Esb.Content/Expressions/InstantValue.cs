using System.Globalization;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>An instant as text, in a time zone and the invariant culture.</summary>
/// <param name="instant">The instant for a message.</param>
/// <param name="format">A format of the framework.</param>
/// <param name="zone">The time zone.</param>
internal sealed class InstantValue(Func<MessageContext, DateTimeOffset> instant, string format, TimeZoneInfo zone) : IMessageValue
{
    public bool ReadsBody => false;

    public object? Evaluate(MessageContext context) =>
        TimeZoneInfo.ConvertTime(instant(context), zone).ToString(format, CultureInfo.InvariantCulture);

    /// <summary>True if a text is a format of instants.</summary>
    public static bool IsFormat(string format)
    {
        if (format.Length == 0)
            return false;
        try
        {
            return DateTimeOffset.UnixEpoch.ToString(format, CultureInfo.InvariantCulture).Length > 0;
        }
        catch (FormatException)
        {
            return false;
        }
    }
}
