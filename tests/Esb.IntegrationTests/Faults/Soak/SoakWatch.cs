using System.Globalization;
using Dapper;
using Esb.IntegrationTests.Faults.Benches;

namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>Looks again and again what the first host of a bench and its store take.</summary>
internal sealed class SoakWatch(FaultBench bench, SoakSize size, Func<int> sent)
{
    // What passes through these leaves them again. In the others it stays until its retention is over.
    private static readonly string[] Passing =
    [
        "attempt",
        "dead_letter",
        "endpoint_mark",
        "held_inbox",
        "held_line",
        "held_message",
        "lane_owner",
        "lease",
        "outbox",
        "parked_key",
        "parked_message",
        "timer",
        "workflow_early",
        "workflow_tally",
        "workflow_wait",
    ];

    private readonly List<SoakSample> _samples = [];
    private readonly long _started = TimeProvider.System.GetTimestamp();

    /// <summary>All of them.</summary>
    public IReadOnlyList<SoakSample> Samples => _samples;

    /// <summary>Those after the host had warmed up.</summary>
    public IReadOnlyList<SoakSample> Measured => [.. _samples.Where(sample => sample.At >= size.WarmUp)];

    /// <summary>Ends when the time is over.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (TimeProvider.System.GetElapsedTime(_started) < size.Time)
        {
            _samples.Add(await LookAsync(cancellationToken));
            await Task.Delay(size.Interval, cancellationToken);
        }
    }

    public Trend TrendOf(Func<SoakSample, double> value) => Trend.Of([.. Measured.Select(sample => (sample.At, value(sample)))]);

    /// <summary>Growth of the store per message, in KiB: in the first half of the time and in the second.</summary>
    public (double First, double Second) StorePerMessage()
    {
        var measured = Measured;
        var middle = measured[measured.Count / 2];
        return (Between(measured[0], middle), Between(middle, measured[^1]));

        static double Between(SoakSample from, SoakSample to) => (to.Store - from.Store) * 1_024 / Math.Max(1, to.Sent - from.Sent);
    }

    private async Task<SoakSample> LookAsync(CancellationToken cancellationToken)
    {
        var id = bench.Farm.Hosts[0].Process.Id;
        var status = (await File.ReadAllLinesAsync($"/proc/{id}/status", cancellationToken))
            .Select(line => line.Split((char[])[':', '\t', ' '], StringSplitOptions.RemoveEmptyEntries))
            .Where(fields => fields.Length > 1)
            .ToDictionary(fields => fields[0], fields => fields[1]);
        await using var connection = await bench.Database.OpenConnectionAsync(cancellationToken);
        var (passing, store) = await connection.QuerySingleAsync<(double Passing, double Store)>(
            new CommandDefinition(
                """
                select coalesce(sum(pg_total_relation_size(oid)) filter (where relname = any(@Passing)), 0)::float8 / 1048576,
                  coalesce(sum(pg_total_relation_size(oid)), 0)::float8 / 1048576
                from pg_class where relkind = 'r' and relnamespace = 'esb'::regnamespace
                """,
                new { Passing },
                cancellationToken: cancellationToken
            )
        );
        return new SoakSample(
            TimeProvider.System.GetElapsedTime(_started),
            double.Parse(status["VmRSS"], CultureInfo.InvariantCulture) / 1_024,
            double.Parse(status["Threads"], CultureInfo.InvariantCulture),
            Directory.GetFileSystemEntries($"/proc/{id}/fd").Length,
            passing,
            store,
            sent()
        );
    }
}
