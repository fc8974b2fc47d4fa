using System.Globalization;
using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Content.Expressions;

/// <summary>Numbers that are written as text.</summary>
internal static class NumberText
{
    private const NumberStyles XPathNumber =
        NumberStyles.AllowLeadingWhite | NumberStyles.AllowTrailingWhite | NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint;

    /// <summary>Converts a JSON number to a value. A number that a <see cref="double"/> cannot hold exactly, such as a long order number,
    /// remains text.</summary>
    public static object FromJson(string text)
    {
        var number = double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);
        if (!double.IsFinite(number))
            return text;
        if (!decimal.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out var exact))
            return text.AsSpan().ContainsAny('e', 'E') ? number : text;
        return
            decimal.TryParse(
                number.ToString("R", CultureInfo.InvariantCulture),
                NumberStyles.Float,
                CultureInfo.InvariantCulture,
                out var held
            )
            && held == exact
            ? number
            : text;
    }

    /// <summary>Converts a constant of the configuration to a value; null for JSON null.</summary>
    public static object? FromConstant(ConfigNode node) =>
        node.Kind switch
        {
            ConfigKind.Null => null,
            ConfigKind.Boolean => node.Text == "true",
            ConfigKind.Number => FromJson(node.Text),
            ConfigKind.Text => node.Text,
            _ => node.ToJson()!.ToJsonString(JsonStyle.Readable),
        };

    /// <summary>Compares two values as numbers; null if either is not a number.</summary>
    public static int? Compare(object left, object right)
    {
        if (left is double a && right is double b)
            return double.IsNaN(a) || double.IsNaN(b) ? null : a.CompareTo(b);
        if (AsExact(left) is { } x && AsExact(right) is { } y)
            return x.CompareTo(y);
        return AsDouble(left) is { } p && AsDouble(right) is { } q ? p.CompareTo(q) : null;
    }

    private static decimal? AsExact(object value) =>
        value is string or double
        && decimal.TryParse(MessageValues.AsText(value), XPathNumber, CultureInfo.InvariantCulture, out var number)
            ? number
            : null;

    private static double? AsDouble(object value) =>
        value switch
        {
            double number when !double.IsNaN(number) => number,
            string text when double.TryParse(text, XPathNumber, CultureInfo.InvariantCulture, out var number) && double.IsFinite(number) =>
                number,
            _ => null,
        };
}
