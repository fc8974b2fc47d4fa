using Esb.Core.Audit;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres;
using Esb.Storage.Postgres.Audit;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>Measures ways to write facts, by turns: by arrays and by COPY, where one becomes faster than the other decides which is taken;
/// and each fact in a row of its own, or with others.</summary>
[NonParallelizable, Category("Soak")]
public sealed class AuditWriteSpeedTests
{
    [Test, CancelAfter(600_000)]
    public async Task Small_groups_are_faster_as_arrays_and_large_ones_by_copy(CancellationToken cancellationToken)
    {
        await using var schema = await TestSchema.StartAsync();
        await using var database = new PostgresDatabase(schema.Config, readOnly: false, TimeProvider.System, NullLogger.Instance);
        await database.Partitions.MakeAsync([DateOnly.FromDateTime(SomeFacts.Fact().Time.UtcDateTime)], cancellationToken);

        await MeasureAsync(database, group: 1, rounds: 200, cancellationToken);
        foreach (var (group, rounds) in new[] { (50, 60), (PostgresAuditRows.WorthCopying, 30), (1_000, 15) })
            await MeasureAsync(database, group, rounds, cancellationToken);
        var (arrays, copy) = await MeasureAsync(database, group: 4_000, rounds: 7, cancellationToken);

        Assert.That(copy, Is.LessThan(arrays), "of 4,000 facts");
    }

    [Test, CancelAfter(600_000)]
    public async Task Facts_that_share_rows_are_written_faster(CancellationToken cancellationToken)
    {
        await using var schema = await TestSchema.StartAsync();
        await MeasureAsync("what is received, published and answered twice, without fields", Exchange, rounds: 15);
        var (alone, shared) = await MeasureAsync("a relayed request, with fields", Relayed, rounds: 15);

        Assert.That(shared, Is.LessThan(alone));

        async Task<(double Alone, double Shared)> MeasureAsync(string what, Func<Guid, AuditFact[]> make, int rounds)
        {
            var (alone, shared) = (new List<double>(), new List<double>());
            for (var round = 0; round < rounds + 3; round++)
            {
                var apart = Thousand(make).Select(fact => fact with { MessageId = Guid.CreateVersion7() }).ToList();
                var together = Thousand(make);
                var (one, other) = (await WriteAsync(apart), await WriteAsync(together));
                if (round < 3)
                    continue; // prepared, and its pages read
                alone.Add(one);
                shared.Add(other);
            }

            alone.Sort();
            shared.Sort();
            var medians = (Alone: alone[rounds / 2], Shared: shared[rounds / 2]);
            TestContext.Progress.WriteLine(
                $"1,000 facts, {what}: alone {medians.Alone:F1} ms, in shared rows {medians.Shared:F1} ms (medians of {rounds})"
            );
            return medians;
        }

        async Task<double> WriteAsync(List<AuditFact> facts)
        {
            var started = TimeProvider.System.GetTimestamp();
            await schema.Store.Audit.AppendAsync(facts, cancellationToken);
            return TimeProvider.System.GetElapsedTime(started).TotalMilliseconds;
        }
    }

    // Facts of before the start may have been written already, and would be looked for.
    private static DateTimeOffset Soon => TimeProvider.System.GetUtcNow().AddMinutes(1);

    private static List<AuditFact> Thousand(Func<Guid, AuditFact[]> make)
    {
        var facts = new List<AuditFact>();
        while (facts.Count < 1_000)
            facts.AddRange(make(Guid.CreateVersion7()));
        return facts;
    }

    private static AuditFact[] Exchange(Guid message) =>
        [
            .. new[] { AuditKind.Received, AuditKind.Published, AuditKind.Replied, AuditKind.Replied }.Select(kind =>
                SomeFacts.Fact(kind, message, time: Soon) with
                {
                    Endpoint = "customers",
                    Host = "host-1/4711",
                    Revision = "9f2c",
                    TraceId = $"{message:N}",
                }
            ),
        ];

    private static AuditFact[] Relayed(Guid message) =>
        [
            SomeFacts.Fact(
                AuditKind.Received,
                message,
                time: Soon,
                fields: [("method", "POST"), ("path", "/relay"), ("relayed-to", "backend")]
            ) with
            {
                Endpoint = "relay",
                Host = "host-1/4711",
                Revision = "9f2c",
            },
            SomeFacts.Fact(AuditKind.Replied, message, time: Soon, fields: [("relayed-to", "backend"), ("status", "200")]) with
            {
                Endpoint = "relay",
                Host = "host-1/4711",
                Revision = "9f2c",
            },
        ];

    private static async Task<(double Arrays, double Copy)> MeasureAsync(
        PostgresDatabase database,
        int group,
        int rounds,
        CancellationToken cancellationToken
    )
    {
        var (arrays, copy) = (new List<double>(), new List<double>());
        for (var round = 0; round < rounds + 3; round++)
        {
            var byArrays = await TimeAsync(Group(group), facts => PostgresAuditRows.InsertAsync(database.Source, facts, cancellationToken));
            var byCopy = await TimeAsync(Group(group), facts => PostgresAuditRows.CopyAsync(database.Source, facts, cancellationToken));
            if (round < 3)
                continue; // prepared, and its pages read
            arrays.Add(byArrays);
            copy.Add(byCopy);
        }

        arrays.Sort();
        copy.Sort();
        var medians = (Arrays: arrays[rounds / 2], Copy: copy[rounds / 2]);
        TestContext.Progress.WriteLine($"{group} facts: arrays {medians.Arrays:F2} ms, copy {medians.Copy:F2} ms (medians of {rounds})");
        return medians;
    }

    private static IReadOnlyList<PostgresFactRow> Group(int count)
    {
        var (chain, head) = (Guid.CreateVersion7(), new ChainHead(0, new byte[32]));
        var fields = new[] { ("order", "A-1001"), ("country", "DE") };
        return PostgresFactRow.Alone(
            Enumerable
                .Range(0, count)
                .Select(_ =>
                    SealedFact.Of(
                        SomeFacts.Fact(AuditKind.Delivered, fields: fields) with
                        {
                            Endpoint = "orders-db",
                            Process = "receive-order",
                            Party = "shop",
                            Host = "host-1",
                        }
                    )
                )
                .Select(fact => new ChainedFact(fact, chain, head = head.Next(fact.Digest)))
        );
    }

    private static async Task<double> TimeAsync(IReadOnlyList<PostgresFactRow> facts, Func<IReadOnlyList<PostgresFactRow>, Task> write)
    {
        var started = TimeProvider.System.GetTimestamp();
        await write(facts);
        return TimeProvider.System.GetElapsedTime(started).TotalMilliseconds;
    }
}
