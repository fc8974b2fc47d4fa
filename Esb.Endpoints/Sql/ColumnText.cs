using System.Globalization;
using System.Xml;

namespace Esb.Endpoints.Sql;

/// <summary>Converts values of a database to text, in the formats of XML Schema.</summary>
internal static class ColumnText
{
    /// <summary>Formats a value; a value with a time zone in UTC.</summary>
    public static string Of(object value) =>
        value switch
        {
            string text => text,
            bool flag => flag ? "true" : "false",
            DateTime time => time.ToString(
                time.Kind == DateTimeKind.Utc ? "yyyy-MM-ddTHH:mm:ss.FFFFFFFZ" : "yyyy-MM-ddTHH:mm:ss.FFFFFFF",
                CultureInfo.InvariantCulture
            ),
            DateTimeOffset time => time.UtcDateTime.ToString("yyyy-MM-ddTHH:mm:ss.FFFFFFFZ", CultureInfo.InvariantCulture),
            DateOnly date => date.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture),
            TimeOnly time => time.ToString("HH:mm:ss.FFFFFFF", CultureInfo.InvariantCulture),
            TimeSpan duration => XmlConvert.ToString(duration),
            byte[] bytes => Convert.ToBase64String(bytes),
            IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
            _ => value.ToString() ?? "",
        };
}
