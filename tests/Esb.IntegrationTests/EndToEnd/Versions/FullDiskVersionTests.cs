using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using Esb.IntegrationTests.Faults.Nemeses;

namespace Esb.IntegrationTests.EndToEnd.Versions;

/// <summary>The disk of the host is full while a version is written: it is refused, what runs keeps running, and the version is applied
/// once there is space.</summary>
[CancelAfter(120_000)]
public sealed class FullDiskVersionTests : VersionFixture
{
    private SmallVolume? _volume;

    private protected override string Place => "store";

    private string Versions => Path.Combine(Folder.FullName, "host", "esb-data", "configuration");

    private protected override async Task PrepareAsync(string folder) => _volume = await SmallVolume.MountAsync(Versions, megabytes: 2);

    private protected override async Task ReleaseAsync()
    {
        if (_volume is not null)
            await _volume.DisposeAsync();
        _volume = null;
    }

    [Test, Category("Thorough")]
    public async Task Version_that_does_not_fit_is_refused_and_applied_once_there_is_space(CancellationToken cancellationToken)
    {
        await using (await _volume!.FillAsync())
        {
            await WriteAsync("two");
            var refused = await EsbAsync(cancellationToken, "apply", Configuration);
            var (answer, problem) = await ApplyAsync(cancellationToken);

            Assert.That(refused.ExitCode, Is.Not.Zero);
            Assert.That(refused.Error, Does.Contain("ESB-CONFIG-DISK").And.Contain("what runs keeps running").And.Contain("No space left"));
            Assert.That(answer, Is.EqualTo(HttpStatusCode.ServiceUnavailable), problem);
            Assert.That(problem, Does.Contain("ESB-CONFIG-DISK"));
            Assert.That((await MarkAsync(cancellationToken), await RunningAsync(cancellationToken)), Is.EqualTo(("one", 1L)));
            Assert.That(Directory.GetDirectories(Versions), Has.Length.EqualTo(1), "nothing half written takes space");
        }

        var applied = await EsbAsync(cancellationToken, "apply", Configuration);
        Assert.That(applied.ExitCode, Is.Zero, applied.Error);
        Assert.That((await MarkAsync(cancellationToken), await RunningAsync(cancellationToken)), Is.EqualTo(("two", 2L)));
    }

    private async Task<(HttpStatusCode Status, string Body)> ApplyAsync(CancellationToken cancellationToken)
    {
        var key = await File.ReadAllTextAsync(Path.Combine(Host.Folder, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Management, "/api/configuration/apply"))
        {
            Content = JsonContent.Create(
                new
                {
                    files = new Dictionary<string, string> { ["esb.json"] = Json.ToJsonString() },
                    contents = new Dictionary<string, byte[]> { ["maps/mark.xslt"] = new byte[] { 0 } },
                }
            ),
        };
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
        using var response = await Host.Client.SendAsync(request, cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
    }
}
