using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Esb.Configuration.Settings;
using Esb.Core.Configuration.Settings;
using Esb.Host;
using Esb.Tests.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Documents;

/// <summary>The pages for those who come from another product show valid configurations, and name as missing only what is
/// missing.</summary>
public sealed partial class MigrationTests
{
    private static readonly string[] Pages = Directory.GetFiles(Path.Combine(Markdown.Repository, "docs", "migrate"), "*.md");

    private static readonly IServiceCollection Services = new ServiceCollection().AddEsb();

    [Test]
    public void Examples_fit_the_schema()
    {
        var validator = new SchemaValidator(SchemaWriter.Write(SettingsCatalog.From(Services)));

        foreach (var page in Pages)
        {
            var examples = Examples().Matches(File.ReadAllText(page)).Select(match => match.Groups["json"].Value).ToList();
            Assert.That(examples, Is.Not.Empty, page);
            foreach (var example in examples)
                Assert.That(validator.Validate(JsonNode.Parse(example)), Is.Empty, page);
        }
    }

    [Test]
    public void What_is_said_to_be_missing_cannot_be_configured()
    {
        var instances = Services.Select(service => service.ImplementationInstance).ToList();
        var available = instances
            .OfType<SettingsKind>()
            .Where(kind => kind.Settings is not null)
            .Select(kind => kind.Kind)
            .Concat(instances.OfType<ConfigSection>().Where(section => section.Settings is not null).Select(section => section.Name))
            .ToHashSet();
        var limits = Path.Combine(Markdown.Repository, "docs", "explanation", "known-limits.md");

        var named = Pages
            .Append(limits)
            .SelectMany(page =>
                NotYet()
                    .Matches(File.ReadAllText(page))
                    .SelectMany(line => Names().Matches(line.Value).Select(name => (page, name: name.Groups["name"].Value)))
            )
            .ToList();

        Assert.That(named, Is.Not.Empty);
        Assert.That(named.Where(entry => available.Contains(entry.name)), Is.Empty, "Take these names out of the pages: they exist.");
    }

    [Test]
    public void Table_of_what_is_planned_has_every_reserved_name_and_no_other()
    {
        var instances = Services.Select(service => service.ImplementationInstance).ToList();
        var reserved = instances
            .OfType<SettingsKind>()
            .Where(kind => kind.Settings is null)
            .Select(kind => kind.Kind)
            .Concat(instances.OfType<ConfigSection>().Where(section => section.Settings is null).Select(section => section.Name));
        var page = File.ReadAllText(Path.Combine(Markdown.Repository, "docs", "operate", "installing.md"));

        var rows = PlannedRow().Matches(page).Select(row => row.Value).ToList();

        Assert.That(
            rows.SelectMany(row => Names().Matches(row)).Select(name => name.Groups["name"].Value),
            Is.EquivalentTo(reserved.Distinct())
        );
    }

    [GeneratedRegex("^```json\n(?<json>.*?)^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Examples();

    [GeneratedRegex("^- not yet:.*$", RegexOptions.Multiline)]
    private static partial Regex NotYet();

    [GeneratedRegex(@"^\| (sections|types of endpoints|steps|types of formats) \|.*$", RegexOptions.Multiline)]
    private static partial Regex PlannedRow();

    [GeneratedRegex("`(?<name>[A-Za-z0-9-]+)`")]
    private static partial Regex Names();
}
