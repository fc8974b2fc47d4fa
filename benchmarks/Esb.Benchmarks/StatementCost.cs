using System.Diagnostics;
using System.Globalization;
using Npgsql;

namespace Esb.Benchmarks;

/// <summary>What a committed insert of 1 KB costs: one statement for each round trip, and several of them in one, each with a commit of its
/// own (<see cref="NpgsqlBatch.EnableErrorBarriers"/>). <c>dotnet run -- statement-cost CONNECTION [SECONDS]</c>, in a schema that it makes
/// and drops.</summary>
internal static class StatementCost
{
    private const string Insert = "insert into statement_cost.orders (id, body) values ($1, $2)";

    private static readonly string Body = new('x', 1024);
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(2);

    /// <summary>Connections at once, and statements in a round trip of each.</summary>
    private static readonly (int Connections, int Statements)[] Shapes = [(30, 1), (15, 2), (10, 3), (6, 5), (3, 10), (30, 5)];

    public static async Task RunAsync(string connection, double seconds)
    {
        var settings = new NpgsqlConnectionStringBuilder(connection)
        {
            MaxPoolSize = 50,
            MaxAutoPrepare = 20,
            AutoPrepareMinUsages = 2,
            NoResetOnClose = true,
        };
        await using var database = NpgsqlDataSource.Create(settings);
        await ExecuteAsync(database, "create schema statement_cost; create table statement_cost.orders (id uuid primary key, body text)");
        try
        {
            foreach (var round in Enumerable.Range(0, 3))
            {
                foreach (var (connections, statements) in Shapes)
                {
                    await MeasureAsync(database, connections, statements, WarmUp);
                    var (rate, cpu) = await MeasureAsync(database, connections, statements, TimeSpan.FromSeconds(seconds));
                    Console.WriteLine(
                        string.Create(
                            CultureInfo.InvariantCulture,
                            $"round {round + 1}: {connections, 2} x {statements, 2}: {rate, 6:0}/s {cpu, 6:0.0} us CPU of the client"
                        )
                    );
                }
            }
        }
        finally
        {
            await ExecuteAsync(database, "drop schema statement_cost cascade");
        }
    }

    // Statements in a second, and microseconds of this process for each.
    private static async Task<(double Rate, double Cpu)> MeasureAsync(
        NpgsqlDataSource database,
        int connections,
        int statements,
        TimeSpan duration
    )
    {
        using var process = Process.GetCurrentProcess();
        var (cpu, began) = (process.TotalProcessorTime, Stopwatch.GetTimestamp());
        var counts = await Task.WhenAll(
            Enumerable.Range(0, connections).Select(_ => Task.Run(() => InsertUntilAsync(database, statements, began, duration)))
        );
        var elapsed = Stopwatch.GetElapsedTime(began);
        process.Refresh();
        return (counts.Sum() / elapsed.TotalSeconds, (process.TotalProcessorTime - cpu).TotalMicroseconds / counts.Sum());
    }

    private static async Task<long> InsertUntilAsync(NpgsqlDataSource database, int statements, long began, TimeSpan duration)
    {
        var count = 0L;
        for (; Stopwatch.GetElapsedTime(began) < duration; count += statements)
        {
            await using var connection = await database.OpenConnectionAsync();
            await using var batch = new NpgsqlBatch(connection) { EnableErrorBarriers = statements > 1 };
            for (var statement = 0; statement < statements; statement++)
                batch.BatchCommands.Add(
                    new NpgsqlBatchCommand(Insert)
                    {
                        Parameters =
                        {
                            new NpgsqlParameter<Guid> { TypedValue = Guid.CreateVersion7() },
                            new NpgsqlParameter<string> { TypedValue = Body },
                        },
                    }
                );
            await batch.ExecuteNonQueryAsync();
        }

        return count;
    }

    private static async Task ExecuteAsync(NpgsqlDataSource database, string sql)
    {
        await using var command = database.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }
}
