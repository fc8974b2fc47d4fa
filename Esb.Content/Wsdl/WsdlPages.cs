using System.Security;
using System.Text;

namespace Esb.Content.Wsdl;

/// <summary>The documents of a WSDL as callers get them, with the address under which they asked. Immutable and thread-safe.</summary>
public sealed class WsdlPages
{
    /// <summary>Stands for the address in the texts; a private character, which no address has.</summary>
    internal const string Place = "\uF8FF";

    private readonly IReadOnlyList<string> _wsdls;
    private readonly IReadOnlyList<string> _schemas;

    /// <param name="wsdls">The WSDL, and those that it imports.</param>
    /// <param name="schemas">The files with schemas.</param>
    internal WsdlPages(IReadOnlyList<string> wsdls, IReadOnlyList<string> schemas) => (_wsdls, _schemas) = (wsdls, schemas);

    /// <summary>Finds the document of a query: <c>?wsdl</c>, <c>?wsdl=N</c> or <c>?xsd=N</c>, counted from 1; null if there is no such
    /// document.</summary>
    /// <param name="query">The query with its question mark; case does not matter.</param>
    /// <param name="address">The absolute address of the service under which it was asked.</param>
    public byte[]? Find(string query, string address) =>
        TextOf(query) is { } text
            ? Encoding.UTF8.GetBytes(text.Replace(Place, SecurityElement.Escape(address), StringComparison.Ordinal))
            : null;

    private string? TextOf(string query)
    {
        if (query.Equals("?wsdl", StringComparison.OrdinalIgnoreCase))
            return _wsdls[0];
        if (query.StartsWith("?wsdl=", StringComparison.OrdinalIgnoreCase))
            return Numbered(_wsdls.Skip(1).ToList(), query["?wsdl=".Length..]);
        return query.StartsWith("?xsd=", StringComparison.OrdinalIgnoreCase) ? Numbered(_schemas, query["?xsd=".Length..]) : null;
    }

    private static string? Numbered(IReadOnlyList<string> pages, string number) =>
        int.TryParse(number, System.Globalization.NumberStyles.None, System.Globalization.CultureInfo.InvariantCulture, out var place)
        && place >= 1
        && place <= pages.Count
            ? pages[place - 1]
            : null;
}
