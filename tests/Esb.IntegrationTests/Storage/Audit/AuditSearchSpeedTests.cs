using System.Globalization;
using Esb.Core.Audit;
using Esb.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>Measures searches in a large audit: cold, with nothing of the database in memory, and warm. Says the lines of the table in
/// docs/results/audit-search.md; only warm searches have a limit.</summary>
[NonParallelizable, Category("Soak")]
public sealed class AuditSearchSpeedTests
{
    private const int AskedCold = 20;
    private const int AskedWarm = 100;
    private const double Limit = 200;

    // So that making the facts takes minutes; searches have nothing of it.
    private static readonly string[] Hurry = ["wal_level = minimal", "max_wal_senders = 0", "maintenance_work_mem = '512MB'"];

    /// <summary>Ten million take 10 GB of disk and some minutes to make; <c>ESB_AUDIT_FACTS</c> sets another number.</summary>
    [Test, CancelAfter(3_600_000)]
    public async Task Of_a_hundred_warm_searches_in_ten_million_facts_ninety_five_take_at_most_200_ms(CancellationToken cancellationToken)
    {
        var facts = int.Parse(Environment.GetEnvironmentVariable("ESB_AUDIT_FACTS") ?? "10000000", CultureInfo.InvariantCulture);
        await using var server = await PrivatePostgres.StartAsync();
        await using var schema = TestSchema.On(server);
        var audit = await GenerateAsync(server, schema, facts, cancellationToken);
        var questions = new AuditQuestions(audit, await SampleAsync(schema, facts));

        Say(
            "| search | found | first | cold, median | cold, slowest | warm, median | warm, slowest |\n| --- | ---: | ---: | ---: | "
                + "---: | ---: | ---: |"
        );
        var slow = new List<string>();
        foreach (var question in questions.All)
        {
            await server.RestartColdAsync();
            await using var reader = StoreReader.Open(
                schema.Config,
                new StoreReading(Configuration: null, schema.Evidence),
                NullLogger.Instance
            );
            var cold = await AskAsync(question, reader.Audit, AskedCold, cancellationToken);
            var warm = await AskAsync(question, reader.Audit, AskedWarm, cancellationToken);
            Say(
                $"| {question.Name} | {warm.Found} | {cold.Times[0]:F0} ms | {Median(cold.Times[1..]):F1} ms | "
                    + $"{cold.Times[1..].Max():F1} ms | {Median(warm.Times):F1} ms | {warm.Times.Max():F1} ms |"
            );
            if (warm.Times.Order().ElementAt((AskedWarm * 95 / 100) - 1) > Limit)
                slow.Add(question.Name);
        }

        NpgsqlConnection.ClearAllPools(); // of a server that was restarted since
        Assert.That(slow, Is.Empty);
    }

    private static async Task<GeneratedAudit> GenerateAsync(
        PrivatePostgres server,
        TestSchema schema,
        int facts,
        CancellationToken cancellationToken
    )
    {
        await schema.Open().StartAsync(cancellationToken);
        await schema.StopAsync();
        foreach (var setting in Hurry)
            await schema.RunAsync($"alter system set {setting}");
        await server.StopAsync();
        await server.StartAgainAsync();
        NpgsqlConnection.ClearAllPools();

        var audit = new GeneratedAudit(schema, facts);
        var started = TimeProvider.System.GetTimestamp();
        await audit.WriteAsync(cancellationToken);
        var seconds = TimeProvider.System.GetElapsedTime(started).TotalSeconds;
        Say(
            $"{audit.Messages * GeneratedAudit.FactsOfMessage:#,0} facts of {audit.Messages:#,0} messages in {GeneratedAudit.Days} "
                + $"days, made in {seconds:F0} s"
        );
        foreach (var table in new[] { "audit_event", "audit_field" })
            Say($"{table}: {await SizeAsync(schema, table)}");
        return audit;
    }

    private static async Task<IReadOnlyList<AuditSample>> SampleAsync(TestSchema schema, int facts) =>
        await schema.QueryAsync<AuditSample>(
            string.Create(
                CultureInfo.InvariantCulture,
                $"""
                select id, occurred_at as time, message_id as message, trace_id as trace from audit_event tablesample system ({Math.Min(
                    100,
                    2_000_000.0 / facts
                )}) repeatable (1)
                where kind = 'Received' order by md5(id::text) limit 500
                """
            )
        );

    private static async Task<string> SizeAsync(TestSchema schema, string table) =>
        (
            await schema.QueryAsync<string>(
                $"""
                select to_char(sum(pg_table_size(inhrelid)) / 1048576, 'FM999,990') || ' MiB of rows, ' || to_char(sum(pg_indexes_size(inhrelid)) / 1048576, 'FM999,990') || ' MiB of indexes'
                from pg_inherits where inhparent = '{table}'::regclass
                """
            )
        ).Single();

    private static async Task<(List<double> Times, int Found)> AskAsync(
        AuditQuestion question,
        IAuditStore store,
        int times,
        CancellationToken cancellationToken
    )
    {
        var (taken, most) = (new List<double>(), 0);
        for (var round = 0; round < times; round++)
        {
            var started = TimeProvider.System.GetTimestamp();
            var found = await question.AskAsync(store, cancellationToken);
            taken.Add(TimeProvider.System.GetElapsedTime(started).TotalMilliseconds);
            most = Math.Max(most, found);
            Assert.That(found > 0, Is.Not.EqualTo(question.IsInVain), $"{question.Name}: {found} found");
        }

        return (taken, most);
    }

    private static double Median(IReadOnlyCollection<double> times) => times.Order().ElementAt(times.Count / 2);

    private static void Say(string line) => TestContext.Progress.WriteLine(line);
}
