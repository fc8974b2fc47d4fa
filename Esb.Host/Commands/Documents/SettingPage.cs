using System.Text;
using System.Text.RegularExpressions;

namespace Esb.Host.Commands.Documents;

/// <summary>A page about settings: its text is written by hand, and each table follows a mark, <c>&lt;!-- settings: NAME --&gt;</c>, behind
/// which it is written anew.</summary>
internal static partial class SettingPage
{
    public const string Header = "| Key | Meaning | Default | Accepted |";

    /// <summary>The names of the tables in a page.</summary>
    public static IEnumerable<string> TablesOf(string page) => Marks().Matches(page).Select(mark => mark.Groups["name"].Value);

    /// <summary>Returns the page with its tables as they are now; one of an unknown name becomes empty.</summary>
    public static string Write(string page, IReadOnlyDictionary<string, IReadOnlyList<string>> tables) =>
        Marks()
            .Replace(
                page,
                mark =>
                {
                    var rows = tables.TryGetValue(mark.Groups["name"].Value, out var known) ? known : [];
                    var text = new StringBuilder($"{mark.Groups["mark"].Value}\n\n{Header}\n| --- | --- | --- | --- |\n");
                    return text.AppendJoin("", rows.Select(row => $"{row}\n")).ToString();
                }
            );

    // A mark, with the table that follows it.
    [GeneratedRegex(@"^(?<mark><!-- settings: (?<name>.+) -->)\n(\n*(\|.*\n)+)?", RegexOptions.Multiline)]
    private static partial Regex Marks();
}
