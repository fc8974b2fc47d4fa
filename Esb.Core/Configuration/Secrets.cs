using System.Text.RegularExpressions;

namespace Esb.Core.Configuration;

/// <summary>Secret part of a value, which must never be shown.</summary>
internal enum Secrecy
{
    /// <summary>None, but resolved references are not shown either.</summary>
    None,

    /// <summary>A password within other text, as in an address or a connection string.</summary>
    Password,

    /// <summary>The whole value.</summary>
    Whole,
}

/// <summary>Masks secrets in displayed values, and finds secrets in clear text.</summary>
internal static partial class Secrets
{
    public const string Mask = "***";

    /// <summary>The text of a value, without its secrets.</summary>
    public static string Hide(Secrecy secrecy, ConfigNode node) =>
        secrecy switch
        {
            Secrecy.Whole => Mask,
            Secrecy.Password => Password().Replace(node.Written ?? node.Text, match => match.Groups["before"].Value + Mask),
            _ => node.Written ?? node.Text,
        };

    /// <summary>True if the value holds a secret in clear text instead of a reference.</summary>
    public static bool StandInClear(ConfigNode node)
    {
        if (node.IsIndirect && node.Written is null)
            return false; // the variable is the reference
        var written = node.Written ?? node.Text;
        return node.Secrecy switch
        {
            Secrecy.Whole => !IsReference(written),
            Secrecy.Password => Password().Matches(written).Any(match => !IsReference(match.Groups["secret"].Value)),
            _ => false,
        };
    }

    private static bool IsReference(string text) =>
        text.Contains("${env:", StringComparison.Ordinal) || text.Contains("${file:", StringComparison.Ordinal);

    // Password=… of a connection string, up to its semicolon, or quoted, with quotes in it doubled; user:… of an address, up to the last @
    // before its path.
    // The colon of a reference, as in ${env:USER}, does not end the user.
    [GeneratedRegex(
        """(?<before>(?:password|pwd|psw)\s*=\s*)(?<secret>"(?:[^"]|"")*"|'(?:[^']|'')*'|[^;]+)"""
            + """|(?<before>://(?>(?:\$\{[^}]*\}|[^/@:\s])*):)(?<secret>[^/\s]+)(?=@)""",
        RegexOptions.IgnoreCase
    )]
    private static partial Regex Password();
}
