using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Esb.Core.Configuration.Settings;
using Esb.Host;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Configuration;

/// <summary>Keeps <c>docs/configuration.md</c> and the schema of the whole product true.</summary>
public sealed partial class DocumentTests
{
    private static readonly string Repository = Path.GetFullPath("../..", SampleTests.Sample("orders"));

    private static readonly string Document = File.ReadAllText(Path.Combine(Repository, "docs", "configuration.md"));

    private static readonly JsonObject Schema = SchemaWriter.Write(SettingsCatalog.From(new ServiceCollection().AddEsb()));

    [Test]
    public void The_samples_fit_the_schema([Values("orders", "mediation", "database")] string sample)
    {
        var json = JsonNode.Parse(File.ReadAllText(Path.Combine(SampleTests.Sample(sample), "esb.json")));

        Assert.That(new SchemaValidator(Schema).Validate(json), Is.Empty);
    }

    [Test]
    public void Every_key_stands_in_the_document_with_its_meaning_default_and_range()
    {
        var documented = Document.Split('\n').ToHashSet();

        var missing = new SettingTables(Schema).Rows()
            .Where(expected => !documented.Contains(expected.Row))
            .Select(expected => $"{expected.Table}: {expected.Row}");

        Assert.That(missing, Is.Empty, "Put these lines into docs/configuration.md, in place of what they replace.");
    }

    [Test]
    public void Every_error_code_stands_in_the_document()
    {
        var codes = Directory.GetDirectories(Repository, "Esb.*")
            .SelectMany(folder => Directory.GetFiles(folder, "*.cs", SearchOption.AllDirectories))
            .Where(file => !file.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal))
            .SelectMany(file => Code().Matches(File.ReadAllText(file)).Select(match => match.Groups["code"].Value))
            .Distinct();

        Assert.That(codes.Where(code => !Document.Contains($"`{code}`", StringComparison.Ordinal)), Is.Empty);
    }

    [GeneratedRegex("\"(?<code>ESB-CFG-[A-Z]+)\"")]
    private static partial Regex Code();
}
