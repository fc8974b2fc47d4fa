using System.Globalization;

namespace Esb.Host.Commands;

/// <summary>Counts in sentences: <c>1 message</c>, <c>2 messages</c>.</summary>
internal static class Counted
{
    public static string Of(long count, string noun) =>
        string.Create(CultureInfo.InvariantCulture, $"{count} {noun}{(count == 1 ? "" : "s")}");
}
