using System.Diagnostics.Metrics;
using System.Reflection;
using System.Text.RegularExpressions;
using Esb.Core.Diagnostics;
using Esb.Tests.Documents;

namespace Esb.Tests.Diagnostics;

/// <summary>Each metric is declared once, and made from its declaration: so the reference is what a host exports.</summary>
public sealed partial class DeclaredInstrumentsTests
{
    private static readonly IReadOnlyList<(string File, string Text)> Product =
    [
        .. Directory
            .GetDirectories(Markdown.Repository, "Esb.*")
            .SelectMany(project => Directory.GetFiles(project, "*.cs", SearchOption.AllDirectories))
            .Where(file => !file.Split(Path.DirectorySeparatorChar).Any(part => part is "obj" or "bin"))
            .Select(file => (Path.GetFileName(file), File.ReadAllText(file))),
    ];

    [Test]
    public void Every_metric_is_declared_and_made_from_its_declaration()
    {
        var made = Product.SelectMany(source => Made().Matches(source.Text)).Select(match => match.Groups["name"].Value).Distinct();

        Assert.That(made, Is.EquivalentTo(typeof(EsbTelemetry.Metrics).GetFields().Select(field => field.Name)));
        Assert.That(DeclaredInstruments.All.Values, Has.All.Matches<MetricAttribute>(metric => metric.Description.EndsWith('.')));
        Assert.That(DeclaredInstruments.All.Values.SelectMany(metric => metric.Tags).Except(Tags()), Is.Empty);
    }

    [Test]
    public void Product_makes_no_instrument_in_another_way()
    {
        var others = Product.Where(source => source.File != "DeclaredInstruments.cs" && Undeclared().IsMatch(source.Text));

        Assert.That(Product, Has.Count.GreaterThan(500));
        Assert.That(others.Select(source => source.File), Is.Empty);
    }

    [Test]
    public void Instrument_has_the_unit_and_the_description_of_its_declaration()
    {
        using var meter = new Meter("Esb.Tests.Declared");

        var duration = meter.Histogram<double>(EsbTelemetry.Metrics.PoolWaitDuration);

        Assert.That((duration.Unit, duration.Description), Is.EqualTo(("s", "Waiting for a free instance of a pool.")));
        Assert.That(duration.Advice?.HistogramBucketBoundaries, Is.EqualTo(EsbTelemetry.DurationBuckets));
        Assert.That(meter.Histogram<int>(EsbTelemetry.Metrics.WorkflowCommit).Advice, Is.Null);
    }

    [Test]
    public void Metric_of_another_kind_or_without_declaration_is_refused()
    {
        using var meter = new Meter("Esb.Tests.Declared");

        Assert.That(() => meter.Counter<long>(EsbTelemetry.Metrics.PoolWaitDuration), Throws.ArgumentException);
        Assert.That(() => meter.Counter<long>("esb.unknown"), Throws.ArgumentException);
    }

    private static IEnumerable<string> Tags() =>
        typeof(EsbTelemetry.Tags)
            .GetFields(BindingFlags.Public | BindingFlags.Static)
            .Select(field => (string)field.GetRawConstantValue()!);

    [GeneratedRegex(@"\.(Observable)?(Counter|UpDownCounter|Gauge|Histogram)(<\w+>)?\(\s*EsbTelemetry\.Metrics\.(?<name>\w+)")]
    private static partial Regex Made();

    [GeneratedRegex(@"\.Create(Observable)?(Counter|UpDownCounter|Gauge|Histogram)\b")]
    private static partial Regex Undeclared();
}
