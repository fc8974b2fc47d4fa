using System.Globalization;

namespace Esb.Content.Xml.Scanning;

/// <summary>Numbers as XPath 1.0 has them (section 4.4), exactly as the framework converts them.</summary>
internal static class XPathNumbers
{
    private const NumberStyles Style = NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint | NumberStyles.AllowTrailingWhite;

    public static double Parse(string text)
    {
        var trimmed = text.AsSpan().Trim(" \t\r\n");
        return !trimmed.IsEmpty && trimmed[0] != '+' && double.TryParse(trimmed, Style, NumberFormatInfo.InvariantInfo, out var number)
            ? number
            : double.NaN;
    }
}
