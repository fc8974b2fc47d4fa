using System.Globalization;
using System.Text.RegularExpressions;
using Npgsql;
using SideBySide.Measuring;
using SideBySide.Targets;

namespace SideBySide.Topics;

/// <summary>pgbench, one insert of 1 KB per commit: the limit of the database.</summary>
internal sealed partial class PgbenchTarget(string database, Surroundings surroundings) : ITarget
{
    public string Name => "pgbench";

    public string Settings => "one prepared insert of 1 KB per commit, 30 clients, 2 threads; fsync and synchronous_commit on, as for all";

    public string? WarmKey => null;

    private string Script => Path.Combine(surroundings.Temporary, "insert.sql");

    public async Task<string?> CheckAsync(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(
            Script,
            $"insert into orders_of_pgbench (message_id, body) values (gen_random_uuid(), "
                + $"'{new string('x', OrderPublisher.BodyBytes)}');\n",
            cancellationToken
        );
        return null;
    }

    public async Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        var seconds = Math.Max(1, (int)duration.TotalSeconds);
        var parts = new NpgsqlConnectionStringBuilder(database);
        var output = await Tool.RunAsync(
            [
                "pgbench",
                "-h",
                parts.Host!,
                "-p",
                $"{parts.Port}",
                "-U",
                parts.Username!,
                "-n",
                "-M",
                "prepared",
                "-c",
                "30",
                "-j",
                "2",
                "-T",
                $"{seconds}",
                "-f",
                Script,
                parts.Database!,
            ],
            [new("PGPASSWORD", parts.Password ?? "")],
            TimeSpan.FromSeconds(seconds + 30),
            cancellationToken
        );
        return new Sample(Commits(output));
    }

    internal static double Commits(string output) =>
        CommitsLine().Match(output) is { Success: true } match
            ? double.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture)
            : throw new NotRunException($"pgbench gave no rate: {output.Trim()}");

    [GeneratedRegex(@"tps = ([0-9.]+)")]
    private static partial Regex CommitsLine();
}
