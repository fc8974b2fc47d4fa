using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Storage.Files;

public sealed class FileReplayJobStoreTests
{
    private ManualTime _time = null!;
    private FileStoreConfig _config = null!;
    private FileStore _store = null!;

    [SetUp]
    public async Task OpenStore()
    {
        _time = new ManualTime();
        _config = new FileStoreConfig { Folder = Directory.CreateTempSubdirectory("esb-").FullName };
        _store = new FileStore(_config, SegmentOptions.Default, _time, NullLogger<FileStore>.Instance);
        await _store.StartAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task CloseStore()
    {
        await _store.DisposeAsync();
        Directory.Delete(_config.Folder, recursive: true);
    }

    [Test, CancelAfter(30_000)]
    public async Task Job_whose_worker_could_not_let_it_go_is_taken_again_once_it_was_silent_for_long(CancellationToken cancellationToken)
    {
        var claim = await ClaimNewJobAsync(cancellationToken);

        var atOnce = await _store.ReplayJobs.ClaimAsync("host", cancellationToken);
        _time.Advance(ReplayClaim.Patience + TimeSpan.FromSeconds(1));
        var later = await _store.ReplayJobs.ClaimAsync("host", cancellationToken);

        Assert.That(atOnce, Is.Null);
        Assert.That(later?.Job.Id, Is.EqualTo(claim.Job.Id));
    }

    [Test, CancelAfter(30_000)]
    public async Task Job_of_a_worker_that_is_heard_of_stays_with_it(CancellationToken cancellationToken)
    {
        var claim = await ClaimNewJobAsync(cancellationToken);

        for (var i = 0; i < 3; i++)
        {
            _time.Advance(ReplayClaim.Patience * 0.7);
            await _store.ReplayJobs.RenewAsync(claim, trouble: null, cancellationToken);
        }

        Assert.That(await _store.ReplayJobs.ClaimAsync("another", cancellationToken), Is.Null);
    }

    private async Task<ReplayClaim> ClaimNewJobAsync(CancellationToken cancellationToken)
    {
        var now = _time.GetUtcNow();
        await _store.DeadLetters.AddAsync(
            new DeadLetter(Some.Message(), "shop", "ESB-HTTP-STATUS", "No.", null, 1, now, now),
            cancellationToken
        );
        await _store.ReplayJobs.CreateAsync(
            new ReplayJob
            {
                Id = Guid.CreateVersion7(),
                Command = "a command",
                Fingerprint = "f",
                Request = new ReplayRequest { Letters = new DeadLetterFilter() },
                CreatedAt = now,
                CreatedBy = "ada",
            },
            cancellationToken
        );
        return (await _store.ReplayJobs.ClaimAsync("host", cancellationToken))!;
    }
}
