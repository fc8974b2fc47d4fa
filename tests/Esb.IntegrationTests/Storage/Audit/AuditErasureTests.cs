using Dapper;
using Esb.Audit.Spooling;
using Esb.Core.Audit;
using Esb.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Esb.IntegrationTests.Storage.Audit;

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
        await Task.WhenAll(Facts(Noon).Select(fact => other.Audit.Spool!.AppendAsync(fact, cancellationToken)));

        var erased = await EraseAsync(Noon, cancellationToken);
        using (
            var mover = new AuditMover(
                other.Audit,
                new RefusedFacts(NullLogger<RefusedFacts>.Instance),
                TimeProvider.System,
                NullLogger<AuditMover>.Instance
            )
        )
        {
            await mover.StartAsync(cancellationToken);
            await mover.StopAsync(cancellationToken);
        }

        Assert.That(erased, Is.Zero, "nothing of it is there yet");
        Assert.That(await _schema.First.Eraser.IsErasedAsync(_message, cancellationToken), Is.True);
        await AssertIsErasedAsync(bodies: 1, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task What_happens_afterwards_is_recorded_anew_until_it_is_erased_too(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Facts(Noon), cancellationToken);
        var first = await EraseAsync(Noon, cancellationToken);

        await _schema.Store.Audit.AppendAsync(Facts(Noon.AddHours(1)), cancellationToken); // a late delivery, a replay
        var isErased = await _schema.Store.Eraser.IsErasedAsync(_message, cancellationToken);
        var second = await EraseAsync(Noon.AddHours(2), cancellationToken);

        Assert.That((first, isErased, second), Is.EqualTo((1L, false, 1L)));
        await AssertIsErasedAsync(bodies: 2, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task What_a_clock_that_is_ahead_tells_is_erased_on_the_same_day_only(CancellationToken cancellationToken)
    {
        var midnight = new DateTimeOffset(Noon.Date.AddDays(1), TimeSpan.Zero);
        await EraseAsync(midnight.AddSeconds(-30), cancellationToken);

        await _schema.Store.Audit.AppendAsync(Facts(midnight.AddSeconds(-1)), cancellationToken);
        await _schema.Store.Audit.AppendAsync(Facts(midnight), cancellationToken);

        Assert.That(
            await _schema.QueryAsync<DateTime>($"select occurred_at from audit_event where message_id = '{_message}' and body is not null"),
            Has.Count.EqualTo(1).And.All.GreaterThanOrEqualTo(midnight.UtcDateTime)
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task What_is_being_inserted_meanwhile_is_waited_for(CancellationToken cancellationToken)
    {
        await RecordErasureAsync(Noon, cancellationToken);
        await using var connection = await ConnectAsync(cancellationToken);
        await using var inserting = await connection.BeginTransactionAsync(cancellationToken);
        await connection.ExecuteAsync(
            $"insert into audit_event (id, occurred_at, kind, message_id, conversation_id, attempt, body) values "
                + $"('{Guid.CreateVersion7()}', '2026-03-01 12:00Z', 'Failed', '{_message}', '{_message}', 0, 'x')"
        );

        var erasing = _schema.Store.Eraser.EraseBodiesAsync(_message, cancellationToken);
        await WaitForWaitingAsync(cancellationToken);
        await inserting.CommitAsync(cancellationToken);

        Assert.That(await erasing, Is.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task What_comes_while_bodies_are_being_erased_waits_and_is_erased(CancellationToken cancellationToken)
    {
        await RecordErasureAsync(Noon, cancellationToken);
        await using var connection = await ConnectAsync(cancellationToken);
        await using var erasing = await connection.BeginTransactionAsync(cancellationToken);
        await connection.ExecuteAsync($"select erase_audit_bodies('{_message}')");

        var inserting = _schema.Store.Audit.AppendAsync(Facts(Noon), cancellationToken);
        await WaitForWaitingAsync(cancellationToken);
        await erasing.CommitAsync(cancellationToken);
        await inserting;

        await AssertIsErasedAsync(bodies: 1, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task An_erasure_is_kept_as_long_as_the_fact_that_tells_of_it(CancellationToken cancellationToken)
    {
        await EraseAsync(Noon, cancellationToken);
        await _schema.Store.Retention.RemoveBeforeAsync(Noon, cancellationToken);
        var before = await _schema.Store.Eraser.IsErasedAsync(_message, cancellationToken);

        await _schema.Store.Retention.RemoveBeforeAsync(Noon.AddDays(1), cancellationToken);

        var after = await _schema.Store.Eraser.IsErasedAsync(_message, cancellationToken);
        Assert.That((before, after), Is.EqualTo((true, false)));
    }

    [Test, CancelAfter(60_000)]
    public void No_body_is_erased_without_a_fact_that_tells_of_it() =>
        Assert.That(
            () => _schema.Store.Eraser.EraseBodiesAsync(_message, default),
            Throws.Exception.With.InnerException.Message.Contains("no fact tells")
        );

    private async Task<long> EraseAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        await RecordErasureAsync(time, cancellationToken);
        return await _schema.First.Eraser.EraseBodiesAsync(_message, cancellationToken);
    }

    private Task RecordErasureAsync(DateTimeOffset time, CancellationToken cancellationToken) =>
        _schema.First.Audit.AppendAsync([SomeFacts.Fact(AuditKind.Erased, _message, time: time)], cancellationToken);

    private List<AuditFact> Facts(DateTimeOffset time) =>
        [
            .. Enumerable
                .Range(0, count)
                .Select(number =>
                    SomeFacts.Fact(AuditKind.Failed, number == count / 2 ? _message : null, time: time.AddTicks(number * 10)) with
                    {
                        Body = new byte[number + 1],
                        BodyState = AuditBodyState.Whole,
                    }
                ),
        ];

    private async Task AssertIsErasedAsync(int bodies, CancellationToken cancellationToken)
    {
        await _schema.StopAsync();
        await using var reader = StoreReader.Open(
            _schema.Config,
            new StoreReading(Configuration: null, _schema.Evidence),
            NullLogger.Instance
        );
        var found = await reader
            .Audit.FindAsync(new AuditQuery { MessageId = _message, Kind = AuditKind.Failed }, cancellationToken)
            .ToListAsync(cancellationToken);
        var verdict = await reader.Evidence!.VerifyAsync(null, null, static _ => { }, cancellationToken);

        Assert.That(
            found.Select(fact => (fact.Body, fact.BodyState)),
            Is.EqualTo(Enumerable.Repeat(((ReadOnlyMemory<byte>?)null, (AuditBodyState?)AuditBodyState.Erased), bodies))
        );
        Assert.That(
            await _schema.QueryAsync<int>("select count(*)::int from audit_event where kind = 'Failed' and body is null"),
            Is.EqualTo([bodies]),
            "the bodies of others stay"
        );
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
        while (
            (
                await _schema.QueryAsync<long>("select count(*) from pg_locks where relation = 'audit_event'::regclass and not granted")
            ).Single() == 0
        )
            await Task.Delay(10, cancellationToken);
    }
}
