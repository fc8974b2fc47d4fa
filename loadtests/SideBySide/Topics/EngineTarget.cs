using System.Globalization;
using SideBySide.Measuring;
using SideBySide.Targets;

namespace SideBySide.Topics;

/// <summary>The engine of workflows alone, in a process of its own (<c>engine-rate</c> of the benchmarks).</summary>
/// <param name="name">How the row calls it.</param>
/// <param name="workflow">The workflow, of those of <c>engine-rate</c>.</param>
/// <param name="database">The database of the store.</param>
/// <param name="surroundings">Where programs are.</param>
internal sealed class EngineTarget(string name, string workflow, string database, Surroundings surroundings) : ITarget
{
    private const string Program = "benchmarks/Esb.Benchmarks/bin/Release/net10.0/Esb.Benchmarks.dll";

    public string Name => name;

    public string Settings =>
        "one process, 256 instances at once, each from its start to its end, after 10 s of warm-up; PostgreSQL, no broker";

    public string? WarmKey => null;

    public Task<string?> CheckAsync(CancellationToken cancellationToken) => Task.FromResult<string?>(null);

    public async Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        var output = await Tool.RunAsync(
            ["dotnet", surroundings.Find(Program), "engine-rate", database, $"{(int)Math.Max(1, duration.TotalSeconds)}", workflow],
            [],
            duration + TimeSpan.FromMinutes(1),
            cancellationToken
        );
        var line = output.Split('\n').FirstOrDefault(line => line.StartsWith($"{workflow}\t", StringComparison.Ordinal));
        return line is null
            ? Sample.Wrong("the engine gave no rate")
            : new Sample(double.Parse(line.Split('\t')[1], CultureInfo.InvariantCulture));
    }
}
