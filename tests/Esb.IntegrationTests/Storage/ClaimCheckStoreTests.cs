using System.Security.Cryptography;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Storage.Files.Claims;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

public sealed class PostgresClaimCheckStoreTests : ClaimCheckStoreContract
{
    private TestSchema _schema = null!;

    [Test, CancelAfter(60_000)]
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

    protected override async Task<IClaimCheckStore> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store.ClaimChecks;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}

public sealed class FolderClaimCheckStoreTests : ClaimCheckStoreContract
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-");

    [Test, CancelAfter(60_000)]
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

    [Test, CancelAfter(60_000)]
    public async Task Stream_is_read_again_and_again_as_it_was_kept(CancellationToken cancellationToken)
    {
        var claims = new FolderClaimCheckStore(_folder.FullName, TimeSpan.FromDays(30), TimeProvider.System);
        var bytes = RandomNumberGenerator.GetBytes(3_000_000);

        var ticket = await claims.PutAsync(MessageBody.FromStream(new MemoryStream(bytes)), cancellationToken);
        var body = (await claims.FindAsync(ticket, cancellationToken))!;
        var copies = new[] { new MemoryStream(), new MemoryStream() };
        foreach (var copy in copies)
            await body.CopyToAsync(copy, cancellationToken);

        Assert.That((body.IsBuffered, body.CanReopen, body.Length), Is.EqualTo((false, true, (long?)bytes.Length)));
        Assert.That(copies.Select(copy => copy.ToArray()), Is.All.EqualTo(bytes));
    }

    [Test, CancelAfter(60_000)]
    public async Task Stream_that_was_changed_where_it_is_kept_fails_at_its_end(CancellationToken cancellationToken)
    {
        using var folder = new OwnFolder();
        var claims = new FolderClaimCheckStore(folder.Path, TimeSpan.FromDays(30), TimeProvider.System);
        var ticket = await claims.PutAsync(MessageBody.FromStream(new MemoryStream(new byte[100_000])), cancellationToken);
        var kept = folder.Files("*.stream").Single();
        await using (var file = kept.OpenWrite())
            file.WriteByte(1);

        var body = (await claims.FindAsync(ticket, cancellationToken))!;

        Assert.That(
            async () => await body.CopyToAsync(Stream.Null, cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-CLAIM-GONE")
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Nothing_is_left_of_a_stream_that_ends_early_and_what_a_kill_left_is_deleted_after_a_day(
        CancellationToken cancellationToken
    )
    {
        var time = new Clock();
        using var folder = new OwnFolder();
        var claims = new FolderClaimCheckStore(folder.Path, TimeSpan.FromDays(30), time);
        var torn = new EsbException("ESB-HTTP-ABORTED", "gone", FaultKind.Malformed);

        Assert.That(
            async () => await claims.PutAsync(MessageBody.FromStream(new TornStream(torn)), cancellationToken),
            Throws.Exception.SameAs(torn)
        );
        var left = folder.Files("*").Length;
        var killed = Path.Combine(Directory.GetDirectories(folder.Path).Single(), "x.stream.part");
        await File.WriteAllTextAsync(killed, "half", cancellationToken);
        File.SetLastWriteTimeUtc(killed, time.Now.UtcDateTime);
        claims.DeleteOld();
        var isYoung = File.Exists(killed);
        time.Now += TimeSpan.FromHours(25);
        claims.DeleteOld();

        Assert.That((left, isYoung, File.Exists(killed)), Is.EqualTo((0, true, false)));
    }

    [TestCase(true), TestCase(false), CancelAfter(60_000)]
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

/// <summary>A folder of one test.</summary>
internal sealed class OwnFolder : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-");

    public string Path => _folder.FullName;

    public FileInfo[] Files(string pattern) => _folder.GetFiles(pattern, SearchOption.AllDirectories);

    public void Dispose() => _folder.Delete(recursive: true);
}

/// <summary>A stream that ends with a failure behind its first bytes.</summary>
internal sealed class TornStream(Exception failure) : MemoryStream(new byte[200_000])
{
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        Position > 0 ? throw failure : base.ReadAsync(buffer[..Math.Min(buffer.Length, 1_000)], cancellationToken);
}
