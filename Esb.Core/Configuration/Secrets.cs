using System.Text.RegularExpressions;

namespace Esb.Core.Configuration;

/// <summary>What of a value nobody may see.</summary>
internal enum Secrecy
{
    /// <summary>Nothing, but what a reference brings is not shown either.</summary>
    None,

    /// <summary>A password among other things, as in an address or a connection string.</summary>
    Password,

    /// <summary>All of it.</summary>
    Whole,
}

/// <summary>Keeps secrets out of what people are shown, and finds those that stand in clear text.</summary>
internal static partial class Secrets
{
    public const string Mask = "***";

    /// <summary>The text of a value as people may see it.</summary>
    public static string Hide(Secrecy secrecy, ConfigNode node) => secrecy switch
    {
        Secrecy.Whole => Mask,
        Secrecy.Password => Password().Replace(node.Written ?? node.Text, match => match.Groups["before"].Value + Mask),
        _ => node.Written ?? node.Text,
    };

    /// <summary>Whether the value holds a secret that somebody wrote down, rather than referred to.</summary>
    public static bool StandInClear(ConfigNode node)
    {
        if (node.IsIndirect && node.Written is null) return false; // the variable is the reference
        var written = node.Written ?? node.Text;
        return node.Secrecy switch
        {
            Secrecy.Whole => !IsReference(written),
            Secrecy.Password => Password().Matches(written).Any(match => !IsReference(match.Groups["secret"].Value)),
            _ => false,
        };
    }

    private static bool IsReference(string text) => text.Contains("${env:", StringComparison.Ordinal) || text.Contains("${file:", StringComparison.Ordinal);

    // Password=… of a connection string, up to its semicolon, or quoted, where a quote in it is doubled; user:… of an address, up to the last @ before its path.
    // The colon of a reference, as in ${env:USER}, does not end the user.
    [GeneratedRegex("""(?<before>(?:password|pwd|psw)\s*=\s*)(?<secret>"(?:[^"]|"")*"|'(?:[^']|'')*'|[^;]+)|(?<before>://(?>(?:\$\{[^}]*\}|[^/@:\s])*):)(?<secret>[^/\s]+)(?=@)""", RegexOptions.IgnoreCase)]
    private static partial Regex Password();
}
