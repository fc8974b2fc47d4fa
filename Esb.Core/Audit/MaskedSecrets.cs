using System.Text;
using System.Text.RegularExpressions;

namespace Esb.Core.Audit;

/// <summary>Secrets found in a message, with their replacements: every occurrence in a text is replaced. Immutable.</summary>
public sealed partial class MaskedSecrets
{
    /// <summary>No secrets.</summary>
    public static readonly MaskedSecrets None = new([], []);

    // Shorter secrets match parts of other words by chance, and are replaced only as whole words.
    private const int ShortestPart = 4;
    private const string Hidden = "****";

    private static readonly Encoding[] Encodings = [Encoding.UTF8, Encoding.Unicode, Encoding.BigEndianUnicode];

    private readonly KeyValuePair<string, string>[] _secrets;
    private readonly ReadOnlyMemory<byte>[] _unreadable;

    private MaskedSecrets(KeyValuePair<string, string>[] secrets, ReadOnlyMemory<byte>[] unreadable)
    {
        _secrets = secrets;
        _unreadable = unreadable;
    }

    /// <summary>Creates secrets from pairs of secret and replacement.</summary>
    public static MaskedSecrets From(IReadOnlyDictionary<string, string> secrets) =>
        // a secret may contain another
        secrets.Count == 0
            ? None
            : new MaskedSecrets([.. secrets.OrderByDescending(secret => secret.Key.Length)], []);

    /// <summary>Every word of an unreadable body, from four characters on: secrets cannot be distinguished from other words.</summary>
    public static MaskedSecrets AllOf(ReadOnlyMemory<byte> body) => body.Length == 0 ? None : new MaskedSecrets([], [body]);

    /// <summary>Combines these secrets with others.</summary>
    public MaskedSecrets And(MaskedSecrets others)
    {
        if (others == None)
            return this;
        if (this == None)
            return others;
        var all = new Dictionary<string, string>(others._secrets);
        foreach (var (secret, masked) in _secrets)
            all[secret] = masked;
        return new MaskedSecrets(From(all)._secrets, [.. _unreadable, .. others._unreadable]);
    }

    /// <summary>Removes the secrets from a text.</summary>
    public string Remove(string text)
    {
        foreach (var (secret, masked) in _secrets)
            text = secret.Length < ShortestPart ? RemoveWord(text, secret, masked) : text.Replace(secret, masked, StringComparison.Ordinal);
        foreach (var body in _unreadable)
            text = Word().Replace(text, word => Contains(body.Span, word.Value) ? Hidden : word.Value);
        return text;
    }

    private static bool Contains(ReadOnlySpan<byte> body, string word)
    {
        foreach (var encoding in Encodings)
        {
            if (body.IndexOf(encoding.GetBytes(word)) >= 0)
                return true;
        }

        return false;
    }

    private static string RemoveWord(string text, string secret, string masked)
    {
        StringBuilder? result = null;
        var taken = 0;
        for (
            var at = text.IndexOf(secret, StringComparison.Ordinal);
            at >= 0;
            at = text.IndexOf(secret, at + secret.Length, StringComparison.Ordinal)
        )
        {
            var end = at + secret.Length;
            if ((at > 0 && char.IsLetterOrDigit(text[at - 1])) || (end < text.Length && char.IsLetterOrDigit(text[end])))
                continue;
            (result ??= new StringBuilder()).Append(text, taken, at - taken).Append(masked);
            taken = end;
        }

        return result is null ? text : result.Append(text, taken, text.Length - taken).ToString();
    }

    [GeneratedRegex(@"[\p{L}\p{N}]{4,}", RegexOptions.CultureInvariant)]
    private static partial Regex Word();
}
