using System.Globalization;

namespace Esb.Host;

/// <summary>Times as entered on the command line and in the API: UTC without an offset, so that they mean the same on every
/// machine.</summary>
internal static class UniversalTime
{
    /// <summary>An example of the format.</summary>
    public const string Expected = "expected a time such as 2026-01-31T08:00:00Z";

    public static DateTimeOffset? TryParse(string text) =>
        DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var time) ? time : null;
}
