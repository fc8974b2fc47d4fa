using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace Esb.Endpoints.Sql;

/// <summary>One statement of a command.</summary>
/// <param name="Pieces">The text around the places of parameters, one more than these.</param>
/// <param name="Positions">The position of the parameter at each place, from 1.</param>
/// <param name="Values">The index of the command's parameter for each position, from 0.</param>
internal sealed record SqlStatement(IReadOnlyList<string> Pieces, IReadOnlyList<int> Positions, IReadOnlyList<int> Values)
{
    /// <summary>The text, with <c>$1</c>, <c>$2</c>… in place of the names.</summary>
    public string Text { get; } = Render(Pieces, Positions, position => string.Create(CultureInfo.InvariantCulture, $"${position}"));

    /// <summary>The text with other placeholders.</summary>
    /// <param name="placeholder">The placeholder of a position.</param>
    public string Render(Func<int, string> placeholder) => Render(Pieces, Positions, placeholder);

    private static string Render(IReadOnlyList<string> pieces, IReadOnlyList<int> positions, Func<int, string> placeholder)
    {
        var text = new StringBuilder(pieces[0]);
        for (var i = 0; i < positions.Count; i++)
            text.Append(placeholder(positions[i])).Append(pieces[i + 1]);
        return text.ToString();
    }
}

/// <summary>The text of a command and its parameters. Immutable.</summary>
internal sealed partial class SqlText
{
    private readonly List<string> _names = [];
    private readonly List<string> _identifiers = [];
    private readonly List<SqlStatement> _statements = [];
    private readonly string _text;

    private SqlText(string text) => _text = text;

    /// <summary>The names after <c>@</c>, each once, in order of first appearance.</summary>
    public IReadOnlyList<string> Parameters => _names;

    /// <summary>The names in positions that allow only the name of a table, which cannot be a value.</summary>
    public IReadOnlyList<string> Identifiers => _identifiers;

    /// <summary>The statements, at least one. Each numbers its own parameters, because the protocol has positions within one statement
    /// only.</summary>
    public IReadOnlyList<SqlStatement> Statements => _statements;

    /// <summary>The text that looks like a placeholder for a message's value but is not one; otherwise null.</summary>
    public string? DynamicPart => Dynamic().Match(_text) is { Success: true } match ? match.Value : null;

    /// <summary>True if the name stands behind an @ that is read as the end of an operator, such as <c>&lt;@</c>.</summary>
    public bool IsPartOfOperator(string name) => Regex.IsMatch(_text, $@"[<|&~!#?^@-]@{Regex.Escape(name)}\b");

    /// <summary>The statement that would begin or end a transaction; otherwise null.</summary>
    public string? TransactionPart =>
        _statements.Select(statement => TransactionControl().Match(statement.Text)).FirstOrDefault(match => match.Success)?.Value.Trim();

    /// <summary>Parses a command: finds parameters and statement ends outside strings, quoted names and comments.</summary>
    public static SqlText Parse(string text)
    {
        var command = new SqlText(text);
        command.Read();
        return command;
    }

    private void Read()
    {
        var statement = new StringBuilder();
        var (pieces, positions, values) = (new List<string>(), new List<int>(), new List<int>());
        var at = 0;
        foreach (Match token in Tokens().Matches(_text))
        {
            statement.Append(_text, at, token.Index - at);
            at = token.Index + token.Length;
            if (token.Groups["end"].Success)
            {
                _statements.Add(new SqlStatement([.. pieces, statement.ToString()], positions, values));
                (statement, pieces, positions, values) = (new StringBuilder(), [], [], []);
            }
            else if (token.Groups["name"].Success)
            {
                pieces.Add(statement.Append(token.Groups["before"].ValueSpan).ToString());
                positions.Add(PositionOf(token, values));
                statement.Clear();
            }
            else
            {
                statement.Append(token.ValueSpan);
            }
        }

        _statements.Add(new SqlStatement([.. pieces, statement.Append(_text, at, _text.Length - at).ToString()], positions, values));
    }

    private int PositionOf(Match token, List<int> values)
    {
        var name = token.Groups["name"].Value;
        if (token.Groups["before"].Success)
            _identifiers.Add(name);
        if (!_names.Contains(name))
            _names.Add(name);
        var value = _names.IndexOf(name);
        if (!values.Contains(value))
            values.Add(value);
        return values.IndexOf(value) + 1;
    }

    // PostgreSQL's lexical structure (manual, chapter 4.1), as far as it can hide an @ or a semicolon. PostgreSQL nests comments; one level
    // is followed here.
    [GeneratedRegex(
        """
            (?i:\bE)'(?:[^'\\]|\\.|'')*'
            | '(?:[^']|'')*'
            | "(?:[^"]|"")*"
            | (?<![\w$])(?<tag>\$(?:[A-Za-z_]\w*)?\$).*?\k<tag>
            | --[^\r\n]*
            | /\*(?:/\*.*?\*/|.)*?\*/
            | (?<before>(?i:\b(?:into|update|join|table))\s+)@(?<name>[A-Za-z_]\w*)
            | (?:(?<=[=>*+%]|\|\|)|(?<![@\w<>*|&~!#?=+%^-]))@(?<name>[A-Za-z_]\w*)
            | (?<end>;)(?=\s*\S)
            """,
        RegexOptions.IgnorePatternWhitespace | RegexOptions.Singleline
    )]
    private static partial Regex Tokens();

    [GeneratedRegex(@"\$\{[^}]*\}?|\{\s*(?:header|property|message|xpath|jsonpath)\b[^}]*\}?", RegexOptions.IgnoreCase)]
    private static partial Regex Dynamic();

    [GeneratedRegex(
        @"^\s*(?:begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b",
        RegexOptions.IgnoreCase
    )]
    private static partial Regex TransactionControl();
}
