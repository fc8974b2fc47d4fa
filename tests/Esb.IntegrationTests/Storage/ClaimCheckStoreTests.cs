using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Files.Claims;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

public sealed class PostgresClaimCheckStoreTests : ClaimCheckStoreContract
{
    private TestSchema _schema = null!;

    [Test, CancelAfter(30_000)]
    public async Task Bodies_are_kept_for_thirty_days_and_dropped_with_their_day(CancellationToken cancellationToken)
    {
        var claims = _schema.Store.ClaimChecks;
        var ticket = await claims.PutAsync(new byte[] { 1 }, cancellationToken);

        await _schema.KeepHouseAsync(ticket.KeptAt.AddDays(30));
        var kept = await claims.FindAsync(ticket, cancellationToken);
        await _schema.KeepHouseAsync(ticket.KeptAt.AddDays(31));
        var dropped = await claims.FindAsync(ticket, cancellationToken);

        Assert.That((kept is null, dropped is null), Is.EqualTo((false, true)));
        Assert.That(
            await claims.FindAsync(await claims.PutAsync(new byte[] { 2 }, cancellationToken), cancellationToken),
            Is.Not.Null,
            "the day's partition is made again"
        );
    }

    protected override async Task<IClaimCheckStore> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store.ClaimChecks;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class FolderClaimCheckStoreTests : ClaimCheckStoreContract
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-");

    [Test, CancelAfter(30_000)]
    public async Task Bodies_are_kept_for_thirty_days_and_deleted_with_their_day(CancellationToken cancellationToken)
    {
        var (time, folder) = (new Clock(), Directory.CreateTempSubdirectory("esb-"));
        var claims = new FolderClaimCheckStore(folder.FullName, TimeSpan.FromDays(30), time);
        var ticket = await claims.PutAsync(new byte[] { 1 }, cancellationToken);

        time.Now = ticket.KeptAt.AddDays(30);
        claims.DeleteOld();
        var kept = await claims.FindAsync(ticket, cancellationToken);
        time.Now = ticket.KeptAt.AddDays(31);
        claims.DeleteOld();
        var deleted = await claims.FindAsync(ticket, cancellationToken);
        folder.Delete(recursive: true);

        Assert.That((kept is null, deleted is null), Is.EqualTo((false, true)));
    }

    [TestCase(true), TestCase(false), CancelAfter(30_000)]
    public async Task Folder_that_is_away_is_no_body_that_is_gone(bool leavesItsMountPoint, CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("esb-");
        var claims = new FolderClaimCheckStore(folder.FullName, TimeSpan.FromDays(30), TimeProvider.System);
        var ticket = await claims.PutAsync(new byte[] { 1 }, cancellationToken);
        folder.Delete(recursive: true);
        if (leavesItsMountPoint)
            folder.Create();

        try
        {
            Assert.That(
                async () => await claims.FindAsync(ticket, cancellationToken),
                Throws.TypeOf<EsbException>().With.Property("IsTransient").True
            );
        }
        finally
        {
            if (leavesItsMountPoint)
                folder.Delete();
        }
    }

    protected override Task<IClaimCheckStore> OpenAsync() =>
        Task.FromResult<IClaimCheckStore>(new FolderClaimCheckStore(_folder.FullName, TimeSpan.FromDays(30), TimeProvider.System));

    protected override Task CloseAsync()
    {
        _folder.Delete(recursive: true);
        return Task.CompletedTask;
    }

    private sealed class Clock : TimeProvider
    {
        public DateTimeOffset Now { get; set; } = System.GetUtcNow();

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
