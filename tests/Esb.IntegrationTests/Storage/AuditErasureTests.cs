using Dapper;
using Esb.Audit.Spooling;
using Esb.Core.Audit;
using Esb.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Esb.IntegrationTests.Storage;

/// <summary>Bodies that arrive after they were erased, in small groups and in those that go in by COPY.</summary>
[TestFixture(10), TestFixture(600)]
public sealed class AuditErasureTests(int count)
{
    private static readonly DateTimeOffset Noon = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private readonly Guid _message = Guid.CreateVersion7();
    private TestSchema _schema = null!;

    [SetUp]
    public async Task Start() => _schema = await TestSchema.StartAsync();

    [TearDown]
    public Task Remove() => _schema.DisposeAsync().AsTask();

    [Test, CancelAfter(60_000)]
    public async Task What_waits_on_another_host_is_erased_as_it_arrives(CancellationToken cancellationToken)
    {
        var other = _schema.Open(Path.Combine(_schema.Config.Folder, "other"));
        await other.StartAsync(cancellationToken);
        await Task.WhenAll(Facts().Select(fact => other.Audit.Spool!.AppendAsync(fact, cancellationToken)));

        var erased = await EraseAsync(cancellationToken);
        using (var mover = new AuditMover(other.Audit, TimeProvider.System, NullLogger<AuditMover>.Instance))
        {
            await mover.StartAsync(cancellationToken);
            await mover.StopAsync(cancellationToken);
        }

        Assert.That(erased, Is.Zero, "nothing of it is there yet");
        Assert.That(await _schema.First.Eraser.IsErasedAsync(_message, cancellationToken), Is.True);
        await AssertIsErasedAsync(bodies: 1, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task What_is_recorded_again_later_is_erased_too(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Facts(), cancellationToken);
        var erased = await EraseAsync(cancellationToken);

        await _schema.Store.Audit.AppendAsync(Facts(), cancellationToken); // a late delivery, a replay

        Assert.That(erased, Is.EqualTo(1));
        await AssertIsErasedAsync(bodies: 2, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task What_is_being_inserted_meanwhile_is_waited_for(CancellationToken cancellationToken)
    {
        await RecordErasureAsync(cancellationToken);
        await using var connection = await ConnectAsync(cancellationToken);
        await using var inserting = await connection.BeginTransactionAsync(cancellationToken);
        await connection.ExecuteAsync($"insert into audit_event (id, occurred_at, kind, message_id, conversation_id, attempt, body) values ('{Guid.CreateVersion7()}', '2026-03-01 12:00Z', 'Failed', '{_message}', '{_message}', 0, 'x')");

        var erasing = _schema.Store.Eraser.EraseBodiesAsync(_message, cancellationToken);
        await WaitForWaitingAsync(cancellationToken);
        await inserting.CommitAsync(cancellationToken);

        Assert.That(await erasing, Is.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task What_comes_while_bodies_are_being_erased_waits_and_is_erased(CancellationToken cancellationToken)
    {
        await RecordErasureAsync(cancellationToken);
        await using var connection = await ConnectAsync(cancellationToken);
        await using var erasing = await connection.BeginTransactionAsync(cancellationToken);
        await connection.ExecuteAsync($"select erase_audit_bodies('{_message}')");

        var inserting = _schema.Store.Audit.AppendAsync(Facts(), cancellationToken);
        await WaitForWaitingAsync(cancellationToken);
        await erasing.CommitAsync(cancellationToken);
        await inserting;

        await AssertIsErasedAsync(bodies: 1, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task An_erasure_is_kept_as_long_as_the_fact_that_tells_of_it(CancellationToken cancellationToken)
    {
        await EraseAsync(cancellationToken);
        await _schema.Store.Retention.RemoveBeforeAsync(Noon, cancellationToken);
        var before = await _schema.Store.Eraser.IsErasedAsync(_message, cancellationToken);

        await _schema.Store.Retention.RemoveBeforeAsync(Noon.AddDays(1), cancellationToken);

        var after = await _schema.Store.Eraser.IsErasedAsync(_message, cancellationToken);
        Assert.That((before, after), Is.EqualTo((true, false)));
    }

    [Test, CancelAfter(60_000)]
    public void No_body_is_erased_without_a_fact_that_tells_of_it() =>
        Assert.That(() => _schema.Store.Eraser.EraseBodiesAsync(_message, default), Throws.Exception.With.InnerException.Message.Contains("no fact tells"));

    private async Task<long> EraseAsync(CancellationToken cancellationToken)
    {
        await RecordErasureAsync(cancellationToken);
        return await _schema.First.Eraser.EraseBodiesAsync(_message, cancellationToken);
    }

    private Task RecordErasureAsync(CancellationToken cancellationToken) =>
        _schema.First.Audit.AppendAsync([SomeFacts.Fact(AuditKind.Erased, _message, time: Noon)], cancellationToken);

    private List<AuditFact> Facts() =>
    [
        .. Enumerable.Range(0, count).Select(number => SomeFacts.Fact(AuditKind.Failed, number == count / 2 ? _message : null, time: Noon.AddTicks(number * 10)) with
        {
            Body = new byte[number + 1],
            BodyState = AuditBodyState.Whole,
        }),
    ];

    private async Task AssertIsErasedAsync(int bodies, CancellationToken cancellationToken)
    {
        await _schema.StopAsync();
        await using var reader = StoreReader.Open(_schema.Config, _schema.Evidence, NullLogger.Instance);
        var found = await reader.Audit.FindAsync(new AuditQuery { MessageId = _message, Kind = AuditKind.Failed }, cancellationToken).ToListAsync(cancellationToken);
        var verdict = await reader.Evidence!.VerifyAsync(null, null, static _ => { }, cancellationToken);

        Assert.That(found.Select(fact => (fact.Body, fact.BodyState)), Is.EqualTo(Enumerable.Repeat(((ReadOnlyMemory<byte>?)null, (AuditBodyState?)AuditBodyState.Erased), bodies)));
        Assert.That(await _schema.QueryAsync<int>("select count(*)::int from audit_event where kind = 'Failed' and body is null"), Is.EqualTo([bodies]), "the bodies of others stay");
        Assert.That((verdict.TotalBreaks, verdict.Erased), Is.EqualTo((0L, (long)bodies)));
    }

    private async Task<NpgsqlConnection> ConnectAsync(CancellationToken cancellationToken)
    {
        var connection = new NpgsqlConnection(_schema.Config.Connection + $";Search Path={_schema.Config.Schema}");
        await connection.OpenAsync(cancellationToken);
        return connection;
    }

    private async Task WaitForWaitingAsync(CancellationToken cancellationToken)
    {
        while ((await _schema.QueryAsync<long>("select count(*) from pg_locks where relation = 'audit_event'::regclass and not granted")).Single() == 0) await Task.Delay(10, cancellationToken);
    }
}
