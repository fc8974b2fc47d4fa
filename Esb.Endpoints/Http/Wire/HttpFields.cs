using System.Collections.Frozen;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Wire;

/// <summary>The rules of HTTP for header fields: hop-by-hop fields, and fields that a message never carries.</summary>
internal static class HttpFields
{
    /// <summary>The message id, on answers of the bus.</summary>
    public const string MessageId = "Esb-Message-Id";

    /// <summary>The correlation id of a caller.</summary>
    public const string CorrelationId = "X-Correlation-Id";

    // RFC 9110, section 7.6.1, and Proxy-Connection, which old clients send.
    private static readonly string[] HopByHop =
    [
        "Connection",
        "Keep-Alive",
        "Proxy-Authenticate",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
    ];

    // Fields that frame or route this one request; the trace is propagated separately.
    private static readonly string[] OfOneExchange = ["Host", "Content-Length", "Expect", "traceparent", "tracestate", "baggage"];

    private static readonly FrozenSet<string> OfContent = new[] { "Content-Type", "Content-Encoding", "Accept-Encoding" }.ToFrozenSet(
        StringComparer.OrdinalIgnoreCase
    );

    private static readonly FrozenSet<string> EndingHere = HopByHop.Concat(OfOneExchange).ToFrozenSet(StringComparer.OrdinalIgnoreCase);

    /// <summary>True if the field is hop-by-hop, by definition or because the sender's <c>Connection</c> names it.</summary>
    public static bool EndsHere(string name, StringValues connection) => EndingHere.Contains(name) || IsNamed(name, connection);

    /// <summary>True if the field describes a body as sent, or an acceptable answer. A message body is neither: its type is kept elsewhere,
    /// and it is unpacked.</summary>
    public static bool IsOfContent(string name) => OfContent.Contains(name);

    /// <summary>True if a list such as <c>Connection</c> contains an option.</summary>
    public static bool HasOption(string? list, string option)
    {
        foreach (var part in list.AsSpan().Split(','))
        {
            if (list.AsSpan(part).Trim().Equals(option, StringComparison.OrdinalIgnoreCase))
                return true;
        }

        return false;
    }

    /// <summary>Returns the headers that a message may send, rewritten.</summary>
    /// <exception cref="EsbException"><c>ESB-HDR-VALUE</c>: a value is more than one line.</exception>
    public static IReadOnlyList<KeyValuePair<string, string>> Outgoing(EsbMessage message, HeaderRules rules)
    {
        List<KeyValuePair<string, string>>? admitted = null; // most messages have none
        foreach (var header in message.Headers)
        {
            if (!rules.Allows(header.Key) || IsOfContent(header.Key) || IsOfTheWay(header.Key) || EndsHere(header.Key, StringValues.Empty))
                continue;
            RequireValue(header.Key, header.Value);
            if (rules.Rewrite.NameOf(header.Key) is { } name)
                (admitted ??= []).Add(new(name, header.Value));
        }

        if (message.ContentType is { } contentType)
            RequireValue("Content-Type", contentType);
        if (rules.Rewrite.IsEmpty)
            return admitted ?? [];
        return [.. MessageHeaders.From((admitted ?? []).Concat(rules.Rewrite.Set))]; // joins headers that now have the same name
    }

    // The message counts its hops itself.
    private static bool IsOfTheWay(string name) => name.Equals(ViaField.Name, StringComparison.OrdinalIgnoreCase);

    private static void RequireValue(string name, string value)
    {
        if (!HeaderRules.IsValue(value))
            throw new EsbException("ESB-HDR-VALUE", $"The value of the header {name} is more than one line of text.", FaultKind.Internal);
    }

    private static bool IsNamed(string name, StringValues connection)
    {
        foreach (var line in connection)
        {
            if (HasOption(line, name))
                return true;
        }

        return false;
    }
}
