using Esb.Core.Audit;
using Esb.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>How long large audits take to verify.</summary>
[NonParallelizable]
public sealed class AuditSizeTests
{
    private static readonly DateTimeOffset Start = new(2026, 3, 1, 0, 0, 0, TimeSpan.Zero);

    [Test, Category("Faults"), Category("Waits"), CancelAfter(900_000), Property("Case", "T-AUD-4")]
    public Task A_day_of_a_million_facts_is_verified_within_a_minute(CancellationToken cancellationToken) =>
        VerifyAsync(1_000_000, TimeSpan.FromMinutes(1), cancellationToken);

    [Test, CancelAfter(120_000)]
    public Task A_day_of_twenty_thousand_facts_is_verified_at_that_rate(CancellationToken cancellationToken) =>
        VerifyAsync(20_000, TimeSpan.FromSeconds(20), cancellationToken);

    private static async Task VerifyAsync(int count, TimeSpan limit, CancellationToken cancellationToken)
    {
        await using var schema = await TestSchema.StartAsync();
        var body = new byte[200];
        for (var written = 0; written < count; written += 2_000)
        {
            await schema.Store.Audit.AppendAsync(
                [
                    .. Enumerable
                        .Range(written, 2_000)
                        .Select(number =>
                            SomeFacts.Fact(
                                AuditKind.Delivered,
                                time: Start.AddMilliseconds(number),
                                fields: [("order", $"A-{number}"), ("country", "DE")]
                            ) with
                            {
                                Endpoint = "orders-db",
                                Process = "receive-order",
                                Party = "shop",
                                Body = body,
                            }
                        ),
                ],
                cancellationToken
            );
        }

        await schema.StopAsync();
        await using var reader = StoreReader.Open(
            schema.Config,
            new StoreReading(Configuration: null, schema.Evidence),
            NullLogger.Instance
        );

        var started = TimeProvider.System.GetTimestamp();
        var verdict = await reader.Evidence!.VerifyAsync(null, null, static _ => { }, cancellationToken);
        var elapsed = TimeProvider.System.GetElapsedTime(started);

        TestContext.Progress.WriteLine($"{verdict.Facts} facts of a day verified in {elapsed.TotalSeconds:F1} s");
        Assert.That((verdict.Facts, verdict.TotalBreaks), Is.EqualTo(((long)count, 0L)));
        Assert.That(elapsed, Is.LessThan(limit));
    }
}
