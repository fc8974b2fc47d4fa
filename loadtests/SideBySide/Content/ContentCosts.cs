using System.Globalization;
using SideBySide.Measuring;
using SideBySide.Targets;

namespace SideBySide.Content;

/// <summary>What <c>content-cost</c> of the benchmarks prints: rates for each second of processor time, by the kind of work. Each round is
/// one run of the program, which all sides share.</summary>
internal sealed class ContentCosts(Surroundings surroundings)
{
    private const string Program = "benchmarks/Esb.Benchmarks/bin/Release/net10.0/Esb.Benchmarks.dll";

    private readonly List<IReadOnlyDictionary<string, double>> _rounds = [];

    /// <summary>The rates of a round, from 0.</summary>
    public async Task<IReadOnlyDictionary<string, double>> RoundAsync(int round, CancellationToken cancellationToken)
    {
        while (_rounds.Count <= round)
        {
            var output = await Tool.RunAsync(
                ["dotnet", surroundings.Find(Program), "content-cost", "1"],
                [],
                TimeSpan.FromMinutes(5),
                cancellationToken
            );
            _rounds.Add(Parse(output));
        }

        return _rounds[round];
    }

    internal static IReadOnlyDictionary<string, double> Parse(string output) =>
        output
            .Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Select(line => line.Split('\t'))
            .Where(parts => parts.Length == 3)
            .ToDictionary(parts => parts[0], parts => double.Parse(parts[1], CultureInfo.InvariantCulture));
}

/// <summary>One kind of work of <see cref="ContentCosts"/>.</summary>
internal sealed class CostTarget(string name, ContentCosts costs) : ITarget
{
    private int _round;

    public string Name => name;

    public string Settings => "in one process, for each second of its processor time, the collector's included";

    public string? WarmKey => null;

    public Task<string?> CheckAsync(CancellationToken cancellationToken) => Task.FromResult<string?>(null);

    public async Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        var rates = await costs.RoundAsync(_round++, cancellationToken);
        return rates.TryGetValue(name, out var rate) && rate > 0
            ? new Sample(rate, CpuMicroseconds: 1e6 / rate)
            : Sample.Wrong($"no figure for {name}");
    }
}
