using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Esb.Configuration.Settings;
using Esb.Host;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Configuration;

/// <summary>Keeps <c>docs/reference</c> and the schema of the whole product true.</summary>
public sealed partial class DocumentTests
{
    private static readonly string Repository = Path.GetFullPath("../..", SampleTests.Sample("orders"));

    private static readonly string Document = string.Join(
        '\n',
        Directory.GetFiles(Path.Combine(Repository, "docs", "reference", "configuration"), "*.md").Select(File.ReadAllText)
    );

    private static readonly HashSet<string> Codes = CodesInSources();

    private static readonly JsonObject Schema = SchemaWriter.Write(SettingsCatalog.From(new ServiceCollection().AddEsb()));

    [Test]
    public void The_samples_fit_the_schema([Values("orders", "mediation", "database", "transactions", "csv-import")] string sample)
    {
        var json = JsonNode.Parse(
            File.ReadAllText(Path.Combine(SampleTests.Sample(sample), "esb.json")),
            documentOptions: new() { CommentHandling = JsonCommentHandling.Skip }
        );

        Assert.That(new SchemaValidator(Schema).Validate(json), Is.Empty);
    }

    [Test]
    public void Every_error_code_stands_in_the_document()
    {
        Assert.That(Codes.Where(IsOfConfiguration).Where(code => !Document.Contains($"`{code}`", StringComparison.Ordinal)), Is.Empty);
    }

    [Test]
    public void Every_other_error_code_stands_in_the_reference()
    {
        var reference = File.ReadAllText(Path.Combine(Repository, "docs", "reference", "errors.md"));

        var documented = InBackticks().Matches(reference).Select(match => match.Groups["code"].Value).Distinct();

        Assert.That(documented.Where(code => !IsOfConfiguration(code)), Is.EquivalentTo(Codes.Where(code => !IsOfConfiguration(code))));
    }

    private static bool IsOfConfiguration(string code) => code.StartsWith("ESB-CFG-", StringComparison.Ordinal);

    private static HashSet<string> CodesInSources() =>
        Directory
            .GetDirectories(Repository, "Esb.*")
            .SelectMany(folder => Directory.GetFiles(folder, "*.cs", SearchOption.AllDirectories))
            .Where(file => !file.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal))
            .SelectMany(file => Said().Matches(File.ReadAllText(file)).Select(match => match.Value))
            .ToHashSet();

    // Also within a longer text; not in comments, where codes stand in <c>, and not the beginnings that end with a hyphen.
    [GeneratedRegex("(?<!<c>)ESB(-[A-Z0-9]+)+(?![A-Z0-9-])")]
    private static partial Regex Said();

    [GeneratedRegex("`(?<code>ESB(-[A-Z0-9]+)+)`")]
    private static partial Regex InBackticks();
}
