using System.Globalization;
using SideBySide.Measuring;
using SideBySide.Targets;

namespace SideBySide.Topics;

/// <summary>The engine of workflows alone, in a process of its own (<c>engine-rate</c> of the benchmarks).</summary>
internal sealed class EngineTarget(string database, Surroundings surroundings) : ITarget
{
    private const string Program = "benchmarks/Esb.Benchmarks/bin/Release/net10.0/Esb.Benchmarks.dll";

    public string Name => "engine alone";

    public string Settings =>
        "one process, 256 instances at once, each from its start to its end, after 10 s of warm-up; PostgreSQL, no broker";

    public string? WarmKey => null;

    public Task<string?> CheckAsync(CancellationToken cancellationToken) => Task.FromResult<string?>(null);

    public async Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        var output = await Tool.RunAsync(
            ["dotnet", surroundings.Find(Program), "engine-rate", database, $"{(int)Math.Max(1, duration.TotalSeconds)}"],
            [],
            duration + TimeSpan.FromMinutes(1),
            cancellationToken
        );
        var line = output.Split('\n').FirstOrDefault(line => line.StartsWith($"{Name}\t", StringComparison.Ordinal));
        return line is null
            ? Sample.Wrong("the engine gave no rate")
            : new Sample(double.Parse(line.Split('\t')[1], CultureInfo.InvariantCulture));
    }
}
