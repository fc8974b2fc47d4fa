namespace Esb.Tests.Documents;

/// <summary>A page answers one question, and is read in a few minutes.</summary>
public sealed class PageTests
{
    private const int MostWords = 1_200;

    private static readonly string Folder = Path.Combine(Markdown.Repository, "docs");

    // Looked up, not read; and tables that a run writes.
    private static readonly string[] Longer = ["reference/", "results/performance.md", "results/faults.md"];

    [Test]
    public void Page_has_a_title_and_at_most_1200_words()
    {
        using var scope = Assert.EnterMultipleScope();
        foreach (var page in Directory.GetFiles(Folder, "*.md", SearchOption.AllDirectories))
        {
            var (name, text) = (Path.GetRelativePath(Folder, page), File.ReadAllText(page));
            Assert.That(text, Does.StartWith("# "), name);
            if (!Longer.Any(longer => name.StartsWith(longer, StringComparison.Ordinal)))
                Assert.That(text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries), Has.Length.AtMost(MostWords), name);
        }
    }
}
