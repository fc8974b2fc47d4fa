using System.Buffers;
using System.Text;

namespace Esb.Core.Messages;

/// <summary>Headers that may cross a boundary of the bus: an allow-list, and reserved names. The single gate of every endpoint and
/// transport. Thread-safe.</summary>
/// <param name="patterns">Names, or prefixes of names followed by <c>*</c>; case-insensitive. A prefix admits a <see cref="IsTrusted"/>
/// name only if it begins like one: <c>x-forwarded-*</c>, not <c>x-*</c>.</param>
/// <param name="rewrite">Changes to admitted headers; none by default.</param>
public sealed class HeaderRules(IReadOnlyList<string> patterns, HeaderRewrite? rewrite = null)
{
    /// <summary>Maximum length of a name, in characters.</summary>
    public const int MaxNameLength = 256;

    /// <summary>Maximum size of all headers of a message together, in bytes of UTF-8: more would not fit a frame of the broker.</summary>
    public const int MaxTotalBytes = 64 * 1024;

    private static readonly SearchValues<char> TokenChars = SearchValues.Create(
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    );

    private static readonly SearchValues<char> ControlChars = SearchValues.Create([
        .. Enumerable.Range(0, 0xA0).Select(c => (char)c).Where(c => char.IsControl(c) && c != '\t'),
    ]);

    /// <summary>Names admitted by default, but for <see cref="IsTrusted"/> ones.</summary>
    public static readonly IReadOnlyList<string> DefaultPatterns = ["x-*"];

    // Gateways set these for the servers behind them, which believe them: the caller's identity, address, method or path.
    private static readonly string[] TrustedPrefixes =
    [
        "x-forwarded-",
        "x-real-ip",
        "x-original-",
        "x-rewrite-",
        "x-http-method",
        "x-method-override",
        "x-remote-",
        "x-auth-",
        "x-user",
        "x-envoy-",
        "x-amzn-",
    ];

    private static readonly string[] ReservedPrefixes = ["esb-", "mt-", "x-death", "x-first-death-", "x-last-death-"];

    // CC and BCC make the broker copy a message to other queues; the rest is written by the broker or its client.
    private static readonly string[] ReservedNames = ["cc", "bcc", "x-delivery-count", "x-dotnet-pub-seq-no", "x-match"];

    /// <summary>True if only the bus or its broker writes the name, regardless of any allow-list.</summary>
    public static bool IsReserved(string name)
    {
        foreach (var prefix in ReservedPrefixes)
        {
            if (name.StartsWith(prefix, StringComparison.OrdinalIgnoreCase))
                return true;
        }

        foreach (var reserved in ReservedNames)
        {
            if (name.Equals(reserved, StringComparison.OrdinalIgnoreCase))
                return true;
        }

        return false;
    }

    /// <summary>True if servers commonly believe a header of this name, because their gateway sets it: <c>X-Forwarded-For</c>,
    /// <c>X-Original-URL</c>, <c>X-HTTP-Method-Override</c>, <c>X-Remote-User</c> and the like.</summary>
    public static bool IsTrusted(string name)
    {
        foreach (var prefix in TrustedPrefixes)
        {
            if (name.StartsWith(prefix, StringComparison.OrdinalIgnoreCase))
                return true;
        }

        return false;
    }

    /// <summary>True if the name is a token of RFC 9110, section 5.6.2, of at most <see cref="MaxNameLength"/> characters.</summary>
    public static bool IsName(string name) => name.Length <= MaxNameLength && IsToken(name);

    /// <summary>True if the text is a token of RFC 9110, section 5.6.2, of any length.</summary>
    public static bool IsToken(string text) => text.Length > 0 && !text.AsSpan().ContainsAnyExcept(TokenChars);

    /// <summary>True if the value fits on one line: no control characters except the tab.</summary>
    public static bool IsValue(string value) => !value.AsSpan().ContainsAny(ControlChars);

    private readonly string[] _patterns = [.. patterns];

    /// <summary>Changes to admitted headers.</summary>
    public HeaderRewrite Rewrite { get; } = rewrite ?? HeaderRewrite.None;

    /// <summary>True if a header of this name is admitted.</summary>
    public bool Allows(string name) => !IsReserved(name) && IsName(name) && IsListed(name);

    /// <summary>Returns the admitted headers, rewritten, and the number of headers with a reserved name.</summary>
    public MessageHeaders Admit(IEnumerable<KeyValuePair<string, string>> headers, out int reserved)
    {
        reserved = 0;
        List<KeyValuePair<string, string>>? admitted = null; // most messages have none
        foreach (var header in headers)
        {
            if (IsReserved(header.Key))
                reserved++;
            else if (Allows(header.Key) && IsValue(header.Value))
                (admitted ??= []).Add(header);
        }

        return Rewrite.Apply(admitted is null ? MessageHeaders.Empty : MessageHeaders.From(admitted));
    }

    /// <summary>Size of the headers, in bytes of UTF-8.</summary>
    public static int Measure(MessageHeaders headers)
    {
        var total = 0;
        foreach (var (name, value) in headers)
            total += name.Length + Encoding.UTF8.GetByteCount(value);
        return total;
    }

    private bool IsListed(string name)
    {
        var isTrusted = IsTrusted(name);
        foreach (var pattern in _patterns)
        {
            if (Matches(pattern, name) && (!isTrusted || IsTrusted(pattern)))
                return true;
        }

        return false;
    }

    /// <summary>True if a name equals a pattern, or begins with a pattern that ends in <c>*</c>; case-insensitive.</summary>
    public static bool Matches(string pattern, string name) =>
        pattern.EndsWith('*')
            ? name.AsSpan().StartsWith(pattern.AsSpan(0, pattern.Length - 1), StringComparison.OrdinalIgnoreCase)
            : string.Equals(pattern, name, StringComparison.OrdinalIgnoreCase);
}
