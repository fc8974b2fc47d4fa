using Esb.Configuration.Settings;
using Esb.Host;
using Esb.Host.Commands;
using Esb.Host.Commands.Documents;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Documents;

/// <summary>The pages that the program writes about itself are those of the documents.</summary>
public sealed class GeneratedTests
{
    private static readonly string Folder = Path.Combine(Markdown.Repository, "docs", "reference");

    private static readonly string Settings = Path.Combine(Folder, "configuration");

    private static readonly CommandContext Context = new()
    {
        Output = TextWriter.Null,
        Error = TextWriter.Null,
        Variables = new Dictionary<string, string>(),
        Services = () => new ServiceCollection().AddEsb(),
    };

    [Test]
    public void Reference_is_what_the_program_says()
    {
        using var scope = Assert.EnterMultipleScope();
        foreach (var (name, text) in ReferencePages.All(Context))
            Assert.That(
                File.Exists(Path.Combine(Folder, name)) ? File.ReadAllText(Path.Combine(Folder, name)) : "",
                Is.EqualTo(text),
                $"{name}: dotnet run --project Esb.Host -- docs docs/reference"
            );
    }

    [Test]
    public void Tables_of_settings_are_what_the_program_says()
    {
        using var scope = Assert.EnterMultipleScope();
        foreach (var (name, text) in ReferencePages.Settings(Context, Settings))
            Assert.That(
                File.ReadAllText(Path.Combine(Settings, name)),
                Is.EqualTo(text),
                $"{name}: dotnet run --project Esb.Host -- docs docs/reference"
            );
    }

    [Test]
    public void Every_setting_is_in_one_table_and_no_table_is_written_by_hand()
    {
        var pages = Directory.GetFiles(Settings, "*.md").Select(File.ReadAllText).ToList();

        var marked = pages.SelectMany(SettingPage.TablesOf).ToList();

        Assert.That(marked, Is.EquivalentTo(SettingTables.Of(SettingsCatalog.From(Context.Services())).Keys));
        Assert.That(
            pages.SelectMany(page => page.Split('\n')).Count(line => line == SettingPage.Header),
            Is.EqualTo(marked.Count),
            "put a mark before each table: <!-- settings: NAME -->"
        );
    }

    [Test]
    public void Table_of_settings_is_written_behind_its_mark()
    {
        var tables = new Dictionary<string, IReadOnlyList<string>> { ["retry"] = ["| `delays` | New. |  | text |"] };
        var old =
            $"# Page\n\n<!-- settings: retry -->\n\n{SettingPage.Header}\n| --- | --- | --- | --- |\n| `old` | Old. |  | text |\n\nText.\n";

        var page = SettingPage.Write(old, tables);

        Assert.That(page, Is.EqualTo(old.Replace("| `old` | Old. |  | text |", "| `delays` | New. |  | text |")));
        Assert.That(
            SettingPage.Write("# Page\n\n<!-- settings: retry -->\n\nText.\n", tables),
            Does.Contain("| `delays` |").And.EndsWith("|\n\nText.\n")
        );
    }
}
