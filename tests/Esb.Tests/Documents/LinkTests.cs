using System.Text.RegularExpressions;

namespace Esb.Tests.Documents;

/// <summary>Relative links of the documents lead to a file or folder, and to a heading that is there.</summary>
public sealed partial class LinkTests
{
    private static readonly string[] Pages =
    [
        Path.Combine(Markdown.Repository, "README.md"),
        .. Directory.GetFiles(Path.Combine(Markdown.Repository, "docs"), "*.md", SearchOption.AllDirectories),
        .. Directory.GetFiles(Path.Combine(Markdown.Repository, "samples"), "README.md", SearchOption.AllDirectories),
    ];

    [Test]
    public void Relative_links_lead_to_a_file_or_folder()
    {
        var broken = Links().Where(link => !Path.Exists(link.Target)).Select(link => $"{link.Page}: {link.Text}");

        Assert.That(broken, Is.Empty);
    }

    [Test]
    public void Anchors_of_links_are_headings_of_the_page_that_they_lead_to()
    {
        var broken = Links()
            .Where(link => link.Anchor.Length > 0 && link.Target.EndsWith(".md", StringComparison.Ordinal) && File.Exists(link.Target))
            .Where(link => !Markdown.Anchors(link.Target).Contains(link.Anchor))
            .Select(link => $"{link.Page}: {link.Text}");

        Assert.That(broken, Is.Empty);
    }

    [Test]
    public void Every_page_is_reached_from_the_readme()
    {
        var byPage = Links().ToLookup(link => link.Page, link => link.Target);
        var reached = new HashSet<string>();
        var next = new Queue<string>([Pages[0]]);
        while (next.TryDequeue(out var page))
        {
            if (!reached.Add(page))
                continue;
            foreach (var target in byPage[page])
                next.Enqueue(target);
            if (Directory.Exists(page))
                foreach (var file in Directory.GetFiles(page, "*.md"))
                    next.Enqueue(file);
        }

        Assert.That(Pages.Where(page => !reached.Contains(page)), Is.Empty);
    }

    private static IEnumerable<Link> Links() =>
        from page in Pages
        from match in Relative().Matches(Markdown.WithoutCode(page)).Cast<Match>()
        let file = match.Groups["file"].Value
        let target = file.Length == 0
            ? page
            : Path.TrimEndingDirectorySeparator(Path.GetFullPath(Uri.UnescapeDataString(file), Path.GetDirectoryName(page)!))
        select new Link(page, match.Value, target, match.Groups["anchor"].Value);

    // Not those with a scheme, such as https:.
    [GeneratedRegex(@"\]\((?![a-z]+:)(?<file>[^)#\s]*)(#(?<anchor>[^)\s]*))?\)")]
    private static partial Regex Relative();

    private sealed record Link(string Page, string Text, string Target, string Anchor);
}
