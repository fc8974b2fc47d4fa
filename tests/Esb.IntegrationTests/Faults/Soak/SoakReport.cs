using System.Globalization;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Results;

namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>The figures of one soak, and which of them went beyond its bound. Its table goes into <c>.test/soak.md</c>, all samples into a
/// file beside it.</summary>
internal sealed class SoakReport(string name, string size)
{
    private static readonly Lock Writing = new();

    private readonly List<string> _rows = [];
    private readonly List<string> _failures = [];

    /// <summary>Adds a figure that may grow by so much in the time that was measured.</summary>
    public void Add(string figure, string unit, Trend trend, double bound)
    {
        _rows.Add(
            string.Create(
                CultureInfo.InvariantCulture,
                $"| {figure} | {trend.Middle:0.#} {unit} | {trend.Most:0.#} {unit} | {trend.Drift:+0.##;-0.##;0} {unit} | "
                    + $"{trend.PerHour:+0.##;-0.##;0} {unit} | +{bound:0.#} {unit} |"
            )
        );
        if (trend.Drift > bound)
            _failures.Add(string.Create(CultureInfo.InvariantCulture, $"{figure} grew by {trend.Drift:0.#} {unit}, bound {bound} {unit}"));
    }

    /// <summary>Adds a figure of the beginning and of the end, of which the latter may have a bound.</summary>
    public void Add(string figure, string unit, double first, double last, double? bound)
    {
        _rows.Add(
            string.Create(
                CultureInfo.InvariantCulture,
                $"| {figure} | {first:0.##} {unit} at first, {last:0.##} {unit} at last | | {last - first:+0.##;-0.##;0} {unit} | | "
                    + $"{(bound is null ? "" : string.Create(CultureInfo.InvariantCulture, $"{bound:0.##} {unit}"))} |"
            )
        );
        if (last > bound)
            _failures.Add(
                string.Create(CultureInfo.InvariantCulture, $"{figure} was {last:0.##} {unit} at last, bound {bound:0.##} {unit}")
            );
    }

    /// <summary>Writes the files, and fails where a bound was passed.</summary>
    /// <param name="samples">All that were taken.</param>
    /// <param name="notes">What else is to be known; one sentence each.</param>
    public void Conclude(IReadOnlyList<SoakSample> samples, string notes)
    {
        var now = TimeProvider.System.GetUtcNow();
        var text = $"""
            ## {name}

            {now:yyyy-MM-dd HH:mm} UTC on {Machine.Describe()}. {size}. {notes}

            | | median | most | change, by its slope | in an hour | bound |
            | --- | ---: | ---: | ---: | ---: | ---: |
            {string.Join('\n', _rows)}


            """;
        var folder = Directory.CreateDirectory(Repository.PathOf(".test")).FullName;
        lock (Writing)
            File.AppendAllText(Path.Combine(folder, "soak.md"), text);
        File.WriteAllLines(
            Path.Combine(folder, $"soak-{name.Replace(' ', '-').ToLowerInvariant()}.tsv"),
            [
                "seconds\tmemory\tthreads\thandles\tpassing\tstore\tsent",
                .. samples.Select(sample =>
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{sample.At.TotalSeconds:0}\t{sample.Memory:0.0}\t{sample.Threads}\t{sample.Handles}\t{sample.PassingTables:0.00}\t"
                            + $"{sample.Store:0.00}\t{sample.Sent}"
                    )
                ),
            ]
        );
        FaultBench.Log(text);
        Assert.That(_failures, Is.Empty);
    }
}
