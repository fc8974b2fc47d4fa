using System.Collections.Concurrent;
using System.Diagnostics;
using Dapper;
using Esb.Audit;
using Esb.Audit.Services;
using Esb.Audit.Spooling;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Pooling;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>The pool of proxies of an audit step, in the mode strict.</summary>
[NonParallelizable] // threads are the process's
public sealed class AuditPoolTests
{
    private static readonly TimeSpan PoolTimeout = TimeSpan.FromSeconds(5);

    private TestSchema _schema = null!;
    private LogLines _lines = null!;

    [SetUp]
    public async Task Start() => (_schema, _lines) = (await TestSchema.StartAsync(), new LogLines());

    [TearDown]
    public async Task Stop()
    {
        _lines.Dispose();
        await _schema.DisposeAsync();
    }

    [Test, CancelAfter(60_000), Property("Case", "T-AUD-3")]
    public async Task Who_waits_for_a_proxy_gets_one_or_the_time_out(CancellationToken cancellationToken)
    {
        await using var proxies = Proxies(maximumInstances: 4);
        await RecordAsync(proxies, cancellationToken); // connected, and compiled
        await SlowInsertsAsync();
        var (threads, most) = (ThreadPool.ThreadCount, 0);
        var (succeeded, timedOut) = (new ConcurrentBag<TimeSpan>(), new ConcurrentBag<TimeSpan>());

        await Task.WhenAll(Enumerable.Range(0, 100).Select(_ => CallAsync()));

        var warnings = _lines.All.Count(line =>
            line.Text.StartsWith("waiting for a free instance of audit step", StringComparison.Ordinal)
        );
        TestContext.Out.WriteLine(
            $"{succeeded.Count} recorded, {timedOut.Count} timed out after {timedOut.Min().TotalSeconds:0.00} to "
                + $"{timedOut.Max().TotalSeconds:0.00} s; {warnings} warning; {most - threads} further threads"
        );
        Assert.Multiple(() =>
        {
            Assert.That(succeeded.Count + timedOut.Count, Is.EqualTo(100));
            Assert.That(succeeded, Has.Count.GreaterThan(4), "the pool was used again and again");
            Assert.That(timedOut, Is.Not.Empty.And.All.GreaterThan(PoolTimeout - TimeSpan.FromSeconds(0.1)));
            Assert.That(warnings, Is.EqualTo(1), "one in 10 s");
            Assert.That(most - threads, Is.LessThanOrEqualTo(20), "threads");
        });
        Assert.That(
            (await _schema.QueryAsync<int>("select count(*) from audit_event")).Single(),
            Is.EqualTo(succeeded.Count + 1),
            "and no more than was said to be"
        );

        async Task CallAsync()
        {
            var started = Stopwatch.GetTimestamp();
            try
            {
                await RecordAsync(proxies, cancellationToken);
                succeeded.Add(Stopwatch.GetElapsedTime(started));
            }
            catch (PoolTimeoutException)
            {
                timedOut.Add(Stopwatch.GetElapsedTime(started));
            }

            InterlockedMax(ref most, ThreadPool.ThreadCount);
        }
    }

    [Test, Category("Thorough"), CancelAfter(60_000), Property("Case", "F058")]
    public async Task Larger_pool_means_larger_batches(CancellationToken cancellationToken)
    {
        var perCommit = new List<double>();
        foreach (var pool in new[] { 1, 10, 50 })
        {
            await _schema.QueryAsync<int>("truncate audit_event");
            await using var proxies = Proxies(pool);
            var started = Stopwatch.GetTimestamp();
            await Task.WhenAll(Enumerable.Range(0, 100).Select(_ => RecordUntilAsync(proxies, started, cancellationToken)));
            var seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
            var (facts, commits) = (
                await _schema.QueryAsync<(long, long)>("select count(*), count(distinct xmin::text) from audit_event")
            ).Single();
            perCommit.Add((double)facts / commits);
            TestContext.Out.WriteLine(
                FormattableString.Invariant(
                    $"pool of {pool}: {facts / seconds:0} facts/s, {commits / seconds:0} commits/s, {perCommit[^1]:0.0} facts in each"
                )
            );
        }

        Assert.That(perCommit[0], Is.EqualTo(1).Within(0.01));
        Assert.That(perCommit[1], Is.GreaterThan(3));
        Assert.That(perCommit[2], Is.GreaterThan(2 * perCommit[1]));
    }

    private InstancePool<AuditProxy> Proxies(int maximumInstances)
    {
        var config = new AuditConfig { Mode = AuditMode.Strict };
        var services = new AuditServices(
            config,
            new AuditTrail(config, _schema.Store.Audit, new RefusedFacts(NullLogger<RefusedFacts>.Instance)),
            TimeProvider.System,
            NullLogger<AuditServices>.Instance
        );
        var limits = new PoolLimits(maximumInstances, PoolTimeout);
        return new InstancePool<AuditProxy>(
            "audit step order-received of receive-order",
            () => new AuditProxy(services),
            limits,
            TimeProvider.System,
            _lines.CreateLogger("pool")
        );
    }

    private static async Task RecordAsync(InstancePool<AuditProxy> proxies, CancellationToken cancellationToken)
    {
        using var proxy = await proxies.RentAsync(cancellationToken);
        await proxy.Instance.RecordAsync(SomeFacts.Fact(), PoolTimeout, cancellationToken);
    }

    private static async Task RecordUntilAsync(InstancePool<AuditProxy> proxies, long started, CancellationToken cancellationToken)
    {
        while (Stopwatch.GetElapsedTime(started) < TimeSpan.FromSeconds(2))
            await RecordAsync(proxies, cancellationToken);
    }

    // An insert takes half a second at least, so that four proxies write at most forty facts in five seconds however fast the machine is.
    private Task SlowInsertsAsync() =>
        _schema.QueryAsync<int>(
            """
            create function slow_insert() returns trigger language plpgsql as 'begin perform pg_sleep(0.5); return null; end';
            create trigger slow_insert before insert on audit_event for each statement execute function slow_insert()
            """
        );

    private static void InterlockedMax(ref int most, int value)
    {
        for (var seen = Volatile.Read(ref most); value > seen; seen = Volatile.Read(ref most))
        {
            if (Interlocked.CompareExchange(ref most, value, seen) == seen)
                return;
        }
    }
}
