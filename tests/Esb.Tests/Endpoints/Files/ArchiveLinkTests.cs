using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Files;

/// <summary>Folders in an inbox that its sender has replaced by links.</summary>
[TestFixture, CancelAfter(30_000)]
internal sealed class ArchiveLinkTests : FileInboundFixture
{
    [Test]
    public async Task File_is_not_moved_through_a_link_in_place_of_done(CancellationToken cancellationToken)
    {
        var elsewhere = Directory.CreateTempSubdirectory("esb-elsewhere-");
        try
        {
            Directory.CreateSymbolicLink(At("done"), elsewhere.FullName);
            var log = new LogLines();
            var endpoint = await StartAsync(new RecordingIntake(), log: log);
            await using (endpoint)
            {
                await PutAsync(At("a.xml"), "good", cancellationToken);
                await Eventually.HoldsAsync(() => log.Warnings.Count > 0, "it is said", cancellationToken);
            }

            Assert.That(elsewhere.GetFileSystemInfos(), Is.Empty);
            Assert.That(
                Claimed().Select(Path.GetFileName),
                Is.EqualTo(new[] { "a.xml" }),
                "it is kept, to be put away once the link is gone"
            );
        }
        finally
        {
            elsewhere.Delete(recursive: true);
        }
    }

    [Test]
    public async Task Folder_of_claims_that_is_a_link_is_not_used(CancellationToken cancellationToken)
    {
        var elsewhere = Directory.CreateTempSubdirectory("esb-elsewhere-");
        try
        {
            Directory.CreateSymbolicLink(At(".claimed"), elsewhere.FullName);
            var log = new LogLines();
            var endpoint = await StartAsync(new RecordingIntake(), log: log);
            await using (endpoint)
            {
                await PutAsync(At("a.xml"), "good", cancellationToken);
                await Eventually.HoldsAsync(() => log.Warnings.Count > 0, "it is said", cancellationToken);
            }

            Assert.That(elsewhere.GetFileSystemInfos(), Is.Empty);
            Assert.That(File.Exists(At("a.xml")), Is.True);
        }
        finally
        {
            elsewhere.Delete(recursive: true);
        }
    }
}
