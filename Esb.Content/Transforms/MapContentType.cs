using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Content.Transforms;

/// <summary>The configured media type of a map's text output, and what follows from it. Immutable.</summary>
/// <param name="written">As configured; null means <c>text/plain</c>.</param>
internal sealed class MapContentType(string? written)
{
    /// <summary>The content type of text output, with its charset unless it is JSON.</summary>
    public string OfText { get; } = WithCharset(written ?? "text/plain");

    /// <summary>The content type of an object or array.</summary>
    public string OfJson { get; } = written is not null && KindOf(written) == MadeKind.Json ? written : "application/json";

    /// <summary>The kind of text output.</summary>
    public MadeKind Kind { get; } = KindOf(written ?? "text/plain");

    /// <summary>True if a text can be used as a media type.</summary>
    public static bool IsSound(string text) =>
        HeaderRules.IsValue(text)
        && MediaTypeOf(text).Split('/') is [var type, var subtype]
        && HeaderRules.IsToken(type)
        && HeaderRules.IsToken(subtype)
        && HasNoOtherCharset(text);

    /// <summary>The kind of document that a media type stands for; text for all others.</summary>
    public static MadeKind KindOf(string contentType)
    {
        var type = MediaTypeOf(contentType);
        if (type.EndsWith("/html", StringComparison.OrdinalIgnoreCase))
            return MadeKind.Html;
        if (type.EndsWith("/json", StringComparison.OrdinalIgnoreCase) || type.EndsWith("+json", StringComparison.OrdinalIgnoreCase))
            return MadeKind.Json;
        return type.EndsWith("/xml", StringComparison.OrdinalIgnoreCase) || type.EndsWith("+xml", StringComparison.OrdinalIgnoreCase)
            ? MadeKind.Xml
            : MadeKind.Text;
    }

    private static string MediaTypeOf(string contentType) => contentType.Split(';', 2)[0].Trim();

    // The output is UTF-8.
    private static bool HasNoOtherCharset(string text) =>
        !text.Contains("charset", StringComparison.OrdinalIgnoreCase) || text.Contains("charset=utf-8", StringComparison.OrdinalIgnoreCase);

    private static string WithCharset(string type) =>
        KindOf(type) == MadeKind.Json || type.Contains("charset", StringComparison.OrdinalIgnoreCase) ? type : $"{type}; charset=utf-8";
}
