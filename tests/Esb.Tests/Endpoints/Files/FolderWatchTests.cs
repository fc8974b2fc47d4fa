using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Files;

/// <summary>A folder is watched, and looked through where it cannot be.</summary>
[TestFixture, CancelAfter(30_000)]
internal sealed class FolderWatchTests : FileInboundFixture
{
    [Test]
    public async Task Watched_folder_is_read_long_before_the_interval(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(
            new RecordingIntake(),
            SomeFiles.InboundConfig(Folder) with
            {
                Interval = TimeSpan.FromHours(1),
            }
        );
        await Eventually.HoldsAsync(() => Directory.Exists(At(".claimed")), "it has begun", cancellationToken);

        await PutAsync(At("order.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => Done().Count == 1, "it is done", cancellationToken);
    }

    [Test, Property("Case", "FIL-18")]
    public async Task Folder_that_cannot_be_watched_is_looked_through_with_one_warning(CancellationToken cancellationToken)
    {
        var (log, intake) = (new LogLines(), new RecordingIntake());
        await using var endpoint = SomeFiles.Inbound(
            SomeFiles.InboundConfig(Folder),
            intake,
            log,
            _ => throw new IOException("The number of watches is exhausted.")
        );
        await endpoint.StartAsync(cancellationToken);

        for (var round = 1; round <= 3; round++)
        {
            await PutAsync(At($"{round}.xml"), "<order/>", cancellationToken);
            await Eventually.HoldsAsync(() => Done().Count == round, $"round {round} is done", cancellationToken);
        }

        Assert.That(log.Warnings, Has.Count.EqualTo(1).And.All.Contains("cannot be watched"));
    }

    [Test, Property("Case", "FIL-19")]
    public async Task Folder_that_comes_back_is_read_again(CancellationToken cancellationToken)
    {
        var (log, intake) = (new LogLines(), new RecordingIntake());
        var folder = At("in");
        await using var endpoint = await StartAsync(intake, SomeFiles.InboundConfig(folder), log);
        Directory.CreateDirectory(folder);
        await PutAsync(Path.Combine(folder, "first.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => File.Exists(Path.Combine(folder, "done", "first.xml")), "it has begun", cancellationToken);

        Directory.Move(folder, At("away"));
        await Eventually.HoldsAsync(() => log.Warnings.Count > 0, "it says so", cancellationToken);
        Assert.That(Directory.Exists(folder), Is.False, "made again below an absent volume");
        Directory.CreateDirectory(folder);
        await PutAsync(Path.Combine(folder, "order.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => intake.Messages.Count == 2, "it reads again", cancellationToken);
        Assert.That(log.Warnings, Has.Count.EqualTo(1).And.All.StartsWith("ESB-FILE-FOLDER"));
    }
}
