using System.Globalization;
using System.Xml;

namespace Esb.Endpoints.Sql;

/// <summary>Values of a database as text, as XML Schema writes them.</summary>
internal static class ColumnText
{
    /// <summary>A value as text; one with a time zone in UTC.</summary>
    public static string Of(object value) => value switch
    {
        string text => text,
        bool flag => flag ? "true" : "false",
        DateTime time => time.ToString(time.Kind == DateTimeKind.Utc ? "yyyy-MM-ddTHH:mm:ss.FFFFFFFZ" : "yyyy-MM-ddTHH:mm:ss.FFFFFFF", CultureInfo.InvariantCulture),
        DateTimeOffset time => time.UtcDateTime.ToString("yyyy-MM-ddTHH:mm:ss.FFFFFFFZ", CultureInfo.InvariantCulture),
        DateOnly date => date.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture),
        TimeOnly time => time.ToString("HH:mm:ss.FFFFFFF", CultureInfo.InvariantCulture),
        TimeSpan duration => XmlConvert.ToString(duration),
        byte[] bytes => Convert.ToBase64String(bytes),
        IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
        _ => value.ToString() ?? "",
    };
}
