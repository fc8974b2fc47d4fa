using System.Text;
using System.Text.RegularExpressions;
using Esb.Content;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.Net.Http.Headers;

namespace Esb.Endpoints.Http.Decoding;

/// <summary>Refuses bodies whose content type names an unknown encoding, or another encoding than the body itself.</summary>
internal static partial class BodyCharset
{
    // That of the request before, mostly.
    private static volatile NamedCharset? _last;

    /// <exception cref="EsbException"><c>ESB-HTTP-CHARSET</c>.</exception>
    public static void Require(string? contentType, ReadOnlySpan<byte> body)
    {
        var named = _last;
        if (named?.ContentType != contentType)
            _last = named = Read(contentType);
        if (named is not { Charset: { } charset })
            return;
        if (named.Page is not { } page)
            throw Refusal($"The charset '{charset}' is not known.");
        if (!named.IsXml || DeclarationOf(body) is not { } declared || PageOf(declared) == page)
            return;
        throw Refusal($"The content type says '{charset}' and the XML declaration '{declared}'.");
    }

    private static NamedCharset Read(string? contentType)
    {
        if (!MediaTypeHeaderValue.TryParse(contentType, out var type) || type.Charset.Length == 0)
            return new NamedCharset(contentType, null, null, IsXml: false);
        var charset = type.Charset.ToString().Trim('"');
        return new NamedCharset(contentType, charset, PageOf(charset), type.SubType.EndsWith("xml", StringComparison.OrdinalIgnoreCase));
    }

    // For UTF-16 the byte order mark is more precise than the name.
    private static int? PageOf(string name)
    {
        var page = Charsets.Find(name)?.CodePage;
        return page == Encoding.BigEndianUnicode.CodePage ? Encoding.Unicode.CodePage : page;
    }

    private static string? DeclarationOf(ReadOnlySpan<byte> body)
    {
        var start = Encoding.Latin1.GetString(body[..Math.Min(body.Length, 256)]);
        return Declaration().Match(start) is { Success: true } match ? match.Groups["name"].Value : null;
    }

    private static EsbException Refusal(string detail) => HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HTTP-CHARSET", detail);

    private sealed record NamedCharset(string? ContentType, string? Charset, int? Page, bool IsXml);

    [GeneratedRegex(
        """^(\u00EF\u00BB\u00BF)?<\?xml\s[^>]*?encoding\s*=\s*["'](?<name>[A-Za-z][A-Za-z0-9._-]*)["']""",
        RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 1000
    )]
    private static partial Regex Declaration();
}
