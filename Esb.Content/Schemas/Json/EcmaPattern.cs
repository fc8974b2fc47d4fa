using System.Text.RegularExpressions;

namespace Esb.Content.Schemas.Json;

/// <summary>A regular expression of a schema (ECMA-262 with Unicode), which runs without backtracking. Immutable and thread-safe.</summary>
internal sealed class EcmaPattern
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(2); // time is linear in the text; this bounds patterns with high counts

    private readonly Regex _regex;

    private EcmaPattern(string source, Regex regex)
    {
        Source = source;
        _regex = regex;
    }

    /// <summary>As the schema writes it.</summary>
    public string Source { get; }

    /// <exception cref="EcmaPatternException">It is no regular expression, or uses something that needs backtracking.</exception>
    public static EcmaPattern Parse(string source)
    {
        var translated = new EcmaTranslator(source).Translate();
        try
        {
            return new EcmaPattern(source, new Regex(translated, RegexOptions.NonBacktracking | RegexOptions.CultureInvariant, Longest));
        }
        catch (Exception ex) when (ex is ArgumentException or NotSupportedException)
        {
            throw new EcmaPatternException($"it cannot be used: {ex.Message.TrimEnd('.')}");
        }
    }

    /// <exception cref="RegexMatchTimeoutException">It takes longer than 2 s.</exception>
    public bool IsMatch(ReadOnlySpan<char> text) => _regex.IsMatch(text);
}

/// <summary>A text is no regular expression that can be used. The message is a clause.</summary>
internal sealed class EcmaPatternException(string message) : Exception(message);
