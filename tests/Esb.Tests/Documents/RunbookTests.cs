using System.CommandLine.Parsing;
using System.Reflection;
using System.Text.Json;
using System.Text.RegularExpressions;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Host.Commands;
using Esb.Tests.Host;

namespace Esb.Tests.Documents;

/// <summary>The runbook has a page for each state and each family of errors, and its commands and metrics exist.</summary>
public sealed partial class RunbookTests
{
    private static readonly string Index = Path.Combine(Markdown.Repository, "docs", "operate", "runbook.md");

    private static readonly string[] Pages = Directory.GetFiles(Path.Combine(Markdown.Repository, "docs", "operate", "runbook"), "*.md");

    [Test]
    public void Every_state_of_an_endpoint_has_a_page([Values] EndpointState state)
    {
        var name = $"state-{JsonNamingPolicy.KebabCaseLower.ConvertName($"{state}")}.md";

        Assert.That(Pages.Select(Path.GetFileName), Does.Contain(name));
        Assert.That(File.ReadAllText(Index), Does.Contain($"(runbook/{name})"));
    }

    [Test]
    public void Every_family_of_error_codes_is_named_in_the_index_and_on_its_page()
    {
        var codes = new[] { "errors.md", "configuration/errors.md" }
            .SelectMany(name => Families(File.ReadAllText(Path.Combine(Markdown.Repository, "docs", "reference", name))))
            .Distinct();
        var index = Families(File.ReadAllText(Index)).ToHashSet();
        var pages = Pages.SelectMany(page => Families(File.ReadAllText(page))).ToHashSet();

        Assert.That(
            codes.Where(family => !index.Contains(family) || !pages.Contains(family)),
            Is.Empty,
            "Add these families to docs/operate/runbook.md and to one of its pages."
        );
    }

    [Test]
    public void Every_page_has_symptom_cause_and_remedy_and_is_short()
    {
        foreach (var page in Pages)
        {
            var text = File.ReadAllText(page);
            Assert.That(
                Headings().Matches(text).Select(match => match.Groups["text"].Value),
                Is.SupersetOf(new[] { "Symptom", "Cause", "What to do", "Commands" }),
                page
            );
            Assert.That(text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries), Has.Length.AtMost(1_200), page);
        }
    }

    [Test]
    public void Every_command_can_be_given()
    {
        var commands = Pages
            .Append(Index)
            .SelectMany(page => Markdown.Commands(page).Select(line => (page, line)))
            .Where(entry => entry.line.StartsWith("esb ", StringComparison.Ordinal))
            .ToList();
        var root = EsbCommandLine.Commands(
            new CommandContext
            {
                Output = TextWriter.Null,
                Error = TextWriter.Null,
                Variables = new Dictionary<string, string>(),
                Services = StandIns.Services,
            }
        );

        var wrong = commands
            .Select(entry => (entry, errors: root.Parse(Words(entry.line).Skip(1).ToList()).Errors))
            .Where(result => result.errors.Count > 0);

        Assert.That(commands, Has.Count.AtLeast(50));
        Assert.That(wrong.Select(result => $"{result.entry}: {string.Join(' ', result.errors)}"), Is.Empty);
    }

    [Test]
    public void Every_metric_exists()
    {
        var known = Constants(typeof(EsbTelemetry)).ToHashSet();

        var named = Pages
            .Append(Index)
            .SelectMany(page => Metrics().Matches(File.ReadAllText(page)))
            .Select(match => match.Groups["name"].Value)
            .Where(name => name is not ("esb.json" or "esb.unroutable"))
            .Distinct();

        Assert.That(named.Where(name => !known.Contains(name)), Is.Empty);
    }

    private static IEnumerable<string> Families(string text) => Codes().Matches(text).Select(match => match.Groups["family"].Value);

    private static IEnumerable<string> Words(string line) => CommandLineParser.SplitCommandLine(line.Replace('\'', '"'));

    private static IEnumerable<string> Constants(Type type) =>
        type.GetFields(BindingFlags.Public | BindingFlags.Static)
            .Where(field => field.IsLiteral)
            .Select(field => field.GetRawConstantValue())
            .OfType<string>()
            .Concat(type.GetNestedTypes().SelectMany(Constants));

    [GeneratedRegex("`ESB-(?<family>[A-Z]+)")]
    private static partial Regex Codes();

    [GeneratedRegex("^## (?<text>.+)$", RegexOptions.Multiline)]
    private static partial Regex Headings();

    [GeneratedRegex(@"`(?<name>esb\.[a-z_.]+)`")]
    private static partial Regex Metrics();
}
