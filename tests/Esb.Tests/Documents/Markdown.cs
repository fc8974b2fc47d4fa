using System.Text.RegularExpressions;
using Esb.Tests.Configuration;

namespace Esb.Tests.Documents;

/// <summary>Reads pages of the documents.</summary>
internal static partial class Markdown
{
    public static string Repository { get; } = Path.GetFullPath("../..", SampleTests.Sample("orders"));

    public static string WithoutCode(string page) => Inline().Replace(Fences().Replace(File.ReadAllText(page), ""), "");

    /// <summary>The commands in the blocks <c>sh</c> of a page, one per line, comments removed.</summary>
    public static IEnumerable<string> Commands(string page) =>
        Fences()
            .Matches(File.ReadAllText(page))
            .Where(match => match.Groups["language"].Value == "sh")
            .SelectMany(match => match.Groups["text"].Value.Split('\n'))
            .SelectMany(line => line.Split("&&"))
            .Select(line => Comment().Replace(line, "").Trim())
            .Where(line => line.Length > 0);

    /// <summary>The anchors of the headings of a page, as GitHub makes them.</summary>
    public static HashSet<string> Anchors(string page) =>
        Headings()
            .Matches(Fences().Replace(File.ReadAllText(page), ""))
            .Select(match => Dropped().Replace(match.Groups["text"].Value.Trim().ToLowerInvariant(), "").Replace(' ', '-'))
            .ToHashSet();

    [GeneratedRegex("^```(?<language>[a-z]*).*?\n(?<text>.*?)^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fences();

    [GeneratedRegex("`[^`\n]*`")]
    private static partial Regex Inline();

    [GeneratedRegex("^#+ (?<text>.+)$", RegexOptions.Multiline)]
    private static partial Regex Headings();

    [GeneratedRegex(@"[^\p{L}\p{N} _-]")]
    private static partial Regex Dropped();

    [GeneratedRegex(@"(^|\s)#.*$")]
    private static partial Regex Comment();
}
