using Esb.Core.Audit;
using Esb.Core.Storage;
using Esb.IntegrationTests.Storage.Audit;
using Esb.Storage;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

public sealed class PostgresAuditStoreTests : AuditStoreContract
{
    private TestSchema _schema = null!;

    protected override async Task<IAuditStore> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store.Audit;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresDeadLetterStoreTests : DeadLetterStoreContract
{
    private TestSchema _schema = null!;

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store;

    private protected override async Task<Store> ReopenAsync() => await _schema.ReopenAsync();

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresReplayJobStoreTests : ReplayJobStoreContract
{
    private TestSchema _schema = null!;

    [Test, CancelAfter(60_000)]
    public async Task Job_of_a_host_that_is_silent_is_taken_by_another(CancellationToken cancellationToken)
    {
        var job = await MakeJobAsync(await KeepAsync(2, cancellationToken), cancellationToken);
        var first = await Jobs.ClaimAsync("first", cancellationToken);
        await _schema.QueryAsync<int>("update replay_job set heard_at = heard_at - interval '14 seconds'");
        var early = await Jobs.ClaimAsync("second", cancellationToken);
        await _schema.QueryAsync<int>("update replay_job set heard_at = heard_at - interval '14 seconds'");

        var second = await Jobs.ClaimAsync("second", cancellationToken);

        Assert.That(early, Is.Null);
        Assert.That(second!.Job.Id, Is.EqualTo(job.Id));
        Assert.That(await Jobs.RenewAsync(first!, null, cancellationToken), Is.Null, "the first has lost it");
        Assert.That(await Jobs.NextAsync(second, 10, cancellationToken), Has.Count.EqualTo(2));
    }

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store;

    private protected override async Task<Store> ReopenAsync() => await _schema.ReopenAsync();

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresLetterRetentionTests : LetterRetentionContract
{
    private TestSchema _schema = null!;

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store;

    private protected override async Task<Store> ReopenAsync() => await _schema.ReopenAsync();

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresParkingStoreTests : ParkingStoreContract
{
    private TestSchema _schema = null!;

    protected override async Task<IParkingStore> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store.Parking;

    protected override async Task<IParkingStore> ReopenAsync()
    {
        var folder = Directory.CreateTempSubdirectory("esb-");
        var other = _schema.Open(folder.FullName);
        await other.StartAsync(default);
        return other.Parking;
    }

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresCrashMarksTests : CrashMarksContract
{
    private TestSchema _schema = null!;

    protected override async Task<ICrashMarks> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store.CrashMarks;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresAttemptStoreTests : AttemptStoreContract
{
    private TestSchema _schema = null!;

    [Test, CancelAfter(60_000)]
    public async Task Attempts_that_nobody_removed_go_after_a_week(CancellationToken cancellationToken)
    {
        var (old, other) = (Guid.NewGuid(), Guid.NewGuid());
        var kept = new KeptAttempts(1, [new FailedAttempt(DateTimeOffset.UnixEpoch, "ESB-A", "It failed.")], DueAt: null);
        await _schema.Store.Attempts.KeepAsync("a", old, kept, cancellationToken);
        await _schema.QueryAsync<int>("update attempt set marked_at = marked_at - interval '8 days'");
        await _schema.Store.Attempts.KeepAsync("a", other, kept, cancellationToken);

        Assert.That(await _schema.QueryAsync<Guid>("select message_id from attempt"), Is.EqualTo(new[] { other }));
    }

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store;

    private protected override async Task<Store> ReopenAsync() => await _schema.ReopenAsync();

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresIdempotencyKeysContract : IdempotencyKeysContract
{
    private TestSchema _schema = null!;

    protected override async Task<IIdempotencyKeys> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store.IdempotencyKeys;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresLeaseStoreTests : LeaseStoreContract
{
    private TestSchema _schema = null!;

    protected override async Task<ILeaseStore> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store.Leases;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}
