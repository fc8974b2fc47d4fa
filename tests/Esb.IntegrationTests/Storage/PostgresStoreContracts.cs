using Esb.Core.Audit;
using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

public sealed class PostgresAuditStoreTests : AuditStoreContract
{
    private TestSchema _schema = null!;

    protected override async Task<IAuditStore> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store.Audit;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresDeadLetterStoreTests : DeadLetterStoreContract
{
    private TestSchema _schema = null!;

    protected override async Task<IDeadLetterStore> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store.DeadLetters;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresIdempotencyKeysContract : IdempotencyKeysContract
{
    private TestSchema _schema = null!;

    protected override async Task<IIdempotencyKeys> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store.IdempotencyKeys;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class PostgresLeaseStoreTests : LeaseStoreContract
{
    private TestSchema _schema = null!;

    protected override async Task<ILeaseStore> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store.Leases;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}
