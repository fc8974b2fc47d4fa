using Esb.Core.Audit;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres;
using Esb.Storage.Postgres.Audit;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>Measures the two ways to write facts, by turns: where one becomes faster than the other decides which is taken.</summary>
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

    private static IReadOnlyList<ChainedFact> Group(int count)
    {
        var (chain, head) = (Guid.CreateVersion7(), new ChainHead(0, new byte[32]));
        var fields = new[] { ("order", "A-1001"), ("country", "DE") };
        return
        [
            .. Enumerable
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
                .Select(fact => new ChainedFact(fact, chain, head = head.Next(fact.Digest))),
        ];
    }

    private static async Task<double> TimeAsync(IReadOnlyList<ChainedFact> facts, Func<IReadOnlyList<ChainedFact>, Task> write)
    {
        var started = TimeProvider.System.GetTimestamp();
        await write(facts);
        return TimeProvider.System.GetElapsedTime(started).TotalMilliseconds;
    }
}
