using System.Text.RegularExpressions;

namespace Esb.Endpoints.Sql;

/// <summary>The text of a command, and the parameters that it names. Immutable.</summary>
internal sealed partial class SqlText
{
    private readonly List<string> _names = [];

    private SqlText(string text) => Text = text;

    /// <summary>The text as it was configured.</summary>
    public string Text { get; }

    /// <summary>The names behind <c>@</c>, each once, in the order in which they first appear.</summary>
    public IReadOnlyList<string> Parameters => _names;

    /// <summary>The names that stand where only the name of a table can; a value cannot be that.</summary>
    public IReadOnlyList<string> Identifiers { get; private set; } = [];

    /// <summary>Whether there is one statement only.</summary>
    public bool IsSingleStatement { get; private set; } = true;

    /// <summary>The text with <c>$1</c>, <c>$2</c>… in place of the names, counted as in <see cref="Parameters"/>.</summary>
    public string Positional { get; private set; } = "";

    /// <summary>What in the text looks like a place for a message's value, but is none; null where nothing does.</summary>
    public string? DynamicPart => Dynamic().Match(Text) is { Success: true } match ? match.Value : null;

    /// <summary>Reads a command: finds the parameters outside of strings, quoted names and comments.</summary>
    public static SqlText Parse(string text)
    {
        var command = new SqlText(text);
        command.Positional = Tokens().Replace(text, command.Read);
        return command;
    }

    private string Read(Match token)
    {
        if (token.Groups["end"].Success) IsSingleStatement = false;
        if (token.Groups["before"].Success) Identifiers = [.. Identifiers, token.Groups["name"].Value];
        if (!token.Groups["name"].Success) return token.Value;

        var name = token.Groups["name"].Value;
        if (!_names.Contains(name)) _names.Add(name);
        return $"{token.Groups["before"].Value}${_names.IndexOf(name) + 1}";
    }

    // PostgreSQL's lexical structure (manual, chapter 4.1), as far as it hides an @ or a semicolon. Comments nest there, one level is followed here.
    [GeneratedRegex("""
        (?i:\bE)'(?:[^'\\]|\\.|'')*'
        | '(?:[^']|'')*'
        | "(?:[^"]|"")*"
        | (?<![\w$])(?<tag>\$(?:[A-Za-z_]\w*)?\$).*?\k<tag>
        | --[^\r\n]*
        | /\*(?:/\*.*?\*/|.)*?\*/
        | (?<before>(?i:\b(?:into|update|join|table))\s+)@(?<name>[A-Za-z_]\w*)
        | (?<![@\w<>*|&~!#?=+%^-])@(?<name>[A-Za-z_]\w*)
        | (?<end>;)(?=\s*\S)
        """, RegexOptions.IgnorePatternWhitespace | RegexOptions.Singleline)]
    private static partial Regex Tokens();

    [GeneratedRegex(@"\$\{[^}]*\}?|\{\s*(?:header|property|message|xpath|jsonpath)\b[^}]*\}?", RegexOptions.IgnoreCase)]
    private static partial Regex Dynamic();
}
