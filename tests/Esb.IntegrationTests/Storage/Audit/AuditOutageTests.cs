using System.Collections.Concurrent;
using Esb.Audit;
using Esb.Audit.Spooling;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>The database goes and comes back, while facts keep coming.</summary>
public sealed class AuditOutageTests
{
    private static readonly RefusedFacts Refused = new(NullLogger<RefusedFacts>.Instance);

    private PrivatePostgres _server = null!;
    private TestSchema _schema = null!;

    [SetUp]
    public async Task Start()
    {
        _server = await PrivatePostgres.StartAsync();
        _schema = TestSchema.On(_server);
    }

    [TearDown]
    public async Task Stop()
    {
        await _schema.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Test, CancelAfter(120_000), Property("Case", "T-AUD-1")]
    public async Task Facts_of_an_outage_arrive_later_each_once(CancellationToken cancellationToken)
    {
        var (store, mover) = await StartHostAsync(cancellationToken);
        var trail = new AuditTrail(new AuditConfig(), store.Audit, Refused);
        await RecordAsync(trail, 200, cancellationToken);

        await _server.KillAsync();
        await RecordAsync(trail, 500, cancellationToken);
        var spooledWhileAway = await trail.CheckAsync(cancellationToken);
        var strictWhileAway = await new AuditTrail(new AuditConfig { Mode = AuditMode.Strict }, store.Audit, Refused).CheckAsync(
            cancellationToken
        );
        await _server.StartAgainAsync();
        await RecordAsync(trail, 200, cancellationToken);
        await WaitForAsync(async () => await CountAsync() == 900, cancellationToken);

        Assert.That((spooledWhileAway, strictWhileAway), Is.EqualTo(((string?)null, "the database cannot be reached")));
        await WaitForAsync(async () => await store.Audit.CheckAsync(cancellationToken) is null, cancellationToken);
        await mover.StopAsync(cancellationToken);
        Assert.That(store.Audit.Spool!.Length, Is.Zero);
    }

    [Test, Category("Thorough"), CancelAfter(120_000), Property("Case", "T-AUD-1")]
    public async Task A_host_that_starts_without_its_database_goes_on_once_it_is_there(CancellationToken cancellationToken)
    {
        await _server.StopAsync();
        var (store, mover) = await StartHostAsync(cancellationToken);
        await RecordAsync(new AuditTrail(new AuditConfig(), store.Audit, Refused), 10, cancellationToken);

        Assert.That(await store.Audit.CheckAsync(cancellationToken), Is.Not.Null);
        await _server.StartAgainAsync();
        await WaitForAsync(async () => store.Audit.Spool!.Length == 0 && await CountAsync() == 10, cancellationToken);

        await mover.StopAsync(cancellationToken);
    }

    [Test, Category("Thorough"), CancelAfter(120_000), Property("Case", "T-AUD-2")]
    public async Task Facts_that_waited_for_the_database_survive_a_restart_of_the_host(CancellationToken cancellationToken)
    {
        await _server.StopAsync();
        var (store, mover) = await StartHostAsync(cancellationToken);
        await RecordAsync(new AuditTrail(new AuditConfig(), store.Audit, Refused), 10, cancellationToken);
        await mover.StopAsync(cancellationToken);
        await store.StopAsync(cancellationToken);

        await _server.StartAgainAsync();
        var (_, next) = await StartHostAsync(cancellationToken);
        await WaitForAsync(async () => await CountAsync() == 10, cancellationToken);

        await next.StopAsync(cancellationToken);
    }

    [Test, Category("Thorough"), CancelAfter(120_000), Property("Case", "T-AUD-2")]
    public async Task Strict_facts_are_in_the_database_or_refused_whatever_crashes(CancellationToken cancellationToken)
    {
        var (store, mover) = await StartHostAsync(cancellationToken);
        var trail = new AuditTrail(new AuditConfig { Mode = AuditMode.Strict }, store.Audit, Refused);
        var recorded = new ConcurrentBag<Guid>();
        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var recording = Enumerable.Range(0, 20).Select(_ => RecordUntilAsync(trail, recorded, stopping.Token)).ToList();

        for (var crash = 0; crash < 3; crash++)
        {
            var before = recorded.Count;
            await WaitForAsync(() => Task.FromResult(recorded.Count > before + 100), cancellationToken);
            await _server.KillAsync();
            await _server.StartAgainAsync();
        }

        await stopping.CancelAsync();
        await Task.WhenAll(recording);
        var kept = await _schema.QueryAsync<Guid>("select id from audit_event");
        Assert.That(kept, Is.SupersetOf(recorded));
        await mover.StopAsync(cancellationToken);
    }

    private static async Task RecordUntilAsync(AuditTrail trail, ConcurrentBag<Guid> recorded, CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            var fact = SomeFacts.Fact();
            try
            {
                await trail.RecordAsync(fact, CancellationToken.None);
                recorded.Add(fact.Id);
            }
            catch (EsbException ex) when (ex.IsTransient)
            {
                await Task.Delay(10, CancellationToken.None); // refused: whoever sent it hears so
            }
        }
    }

    private async Task<(Esb.Storage.Postgres.PostgresStore Store, AuditMover Mover)> StartHostAsync(CancellationToken cancellationToken)
    {
        var store = _schema.Open();
        await store.StartAsync(cancellationToken);
        var mover = new AuditMover(store.Audit, Refused, TimeProvider.System, NullLogger<AuditMover>.Instance);
        await mover.StartAsync(cancellationToken);
        return (store, mover);
    }

    private static Task RecordAsync(AuditTrail trail, int count, CancellationToken cancellationToken) =>
        Task.WhenAll(Enumerable.Range(0, count).Select(_ => trail.RecordAsync(SomeFacts.Fact(), cancellationToken).AsTask()));

    private async Task<long> CountAsync()
    {
        try
        {
            return (await _schema.QueryAsync<long>("select count(*) from audit_event")).Single();
        }
        catch (Npgsql.NpgsqlException)
        {
            return -1; // not there yet
        }
    }

    private static async Task WaitForAsync(Func<Task<bool>> condition, CancellationToken cancellationToken)
    {
        while (!await condition())
        {
            if (cancellationToken.IsCancellationRequested)
                Assert.Fail("The condition did not hold in time.");
            await Task.Delay(50, CancellationToken.None);
        }
    }
}
