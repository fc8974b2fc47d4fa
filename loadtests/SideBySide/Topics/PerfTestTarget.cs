using System.Globalization;
using System.Text.RegularExpressions;
using SideBySide.Measuring;
using SideBySide.Targets;

namespace SideBySide.Topics;

/// <summary>RabbitMQ PerfTest, one producer and one consumer: the limit of the broker.</summary>
internal sealed partial class PerfTestTarget(string jar, string broker) : ITarget
{
    /// <summary>Each run is a new process; its first seconds are not counted.</summary>
    private const int ColdSeconds = 3;

    public string Name => "PerfTest";

    public string Settings =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"2.22, {Bytes:#,0} bytes persistent, one {(IsQuorum ? "quorum" : "classic")} queue, {OrderPublisher.MostUnconfirmed} unconfirmed and as many unacknowledged at "
                + $"most, single acks; its first {ColdSeconds} s are not counted"
        );

    /// <summary>Bytes of a message.</summary>
    public int Bytes { get; init; } = 1024;

    /// <summary>True for a quorum queue instead of a classic one.</summary>
    public bool IsQuorum { get; init; }

    public string? WarmKey => null;

    public Task<string?> CheckAsync(CancellationToken cancellationToken) => Task.FromResult<string?>(null);

    public async Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        var seconds = ColdSeconds + Math.Max(2, (int)duration.TotalSeconds);
        var limit = OrderPublisher.MostUnconfirmed.ToString(CultureInfo.InvariantCulture);
        var output = await Tool.RunAsync(
            [
                "java",
                "-jar",
                jar,
                "--uri",
                broker,
                "-x",
                "1",
                "-y",
                "1",
                "-u",
                IsQuorum ? "esb-compare-perf-test-quorum" : "esb-compare-perf-test",
                .. IsQuorum ? ["-qq"] : (string[])["-ad", "true"],
                "-f",
                "persistent",
                "-s",
                Bytes.ToString(CultureInfo.InvariantCulture),
                "-c",
                limit,
                "-q",
                limit,
                "-z",
                seconds.ToString(CultureInfo.InvariantCulture),
            ],
            [],
            TimeSpan.FromSeconds(seconds + 30),
            cancellationToken
        );
        return new Sample(Received(output));
    }

    /// <summary>The median of the seconds behind the cold ones.</summary>
    internal static double Received(string output)
    {
        var rates = ReceivedLine()
            .Matches(output)
            .Select(match => double.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture))
            .Skip(ColdSeconds)
            .ToArray();
        return rates.Length > 0 ? Statistics.Median(rates) : throw new NotRunException($"PerfTest gave no rates: {output.Trim()}");
    }

    [GeneratedRegex(@"received: ([0-9.]+) msg/s")]
    private static partial Regex ReceivedLine();
}
