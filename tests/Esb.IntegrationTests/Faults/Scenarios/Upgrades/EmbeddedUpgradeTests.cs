using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.Faults.Scenarios.Upgrades;

/// <summary>A host without servers: what it keeps in its own folder goes on with the next release, and with the release before again
/// unless that refuses the store.</summary>
[NonParallelizable, Category("Upgrades")]
public sealed class EmbeddedUpgradeTests
{
    private const string Configuration = """
        {
          "name": "alone",
          "topics": { "letters": {}, "jobs": {} },
          "processes": { "refuse": [{ "fail": "not yet" }] },
          "workflows": {
            "job": {
              "start": "jobs.new",
              "correlate": { "job": { "message": "body" } },
              "steps": [
                { "id": "go", "receive": { "subscribe": "jobs.go", "match": { "job": { "message": "body" } } } },
                { "id": "tell", "publish": "jobs.done" }
              ]
            }
          },
          "endpoints": {
            "letters": { "type": "http-inbound", "path": "/letters", "publish": "letters.new" },
            "jobs": { "type": "http-inbound", "path": "/jobs", "publish": "jobs.new" },
            "go": { "type": "http-inbound", "path": "/go", "publish": "jobs.go" },
            "refusing": { "type": "file-outbound", "folder": "refused", "fileName": "{message.id}", "process": "refuse",
                          "subscribe": ["letters.#"], "retry": { "immediate": 0, "delays": [] } },
            "done": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}", "subscribe": ["jobs.done"] }
          }
        }
        """;

    private DirectoryInfo _folder = null!;

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-upgrade-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, Category("Faults"), CancelAfter(400_000), Property("Case", "T-UPG-2")]
    public async Task Embedded_store_goes_on_with_this_release_and_with_the_one_before(CancellationToken cancellationToken)
    {
        var earlier = await EarlierRelease.GetAsync();
        var folder = _folder.FullName;
        await File.WriteAllTextAsync(Path.Combine(folder, "esb.json"), Configuration, cancellationToken);
        string[] programs = [earlier.Program, Repository.Host, earlier.Program, Repository.Host];
        var served = 0;

        // Each begins an instance, and ends the one that the host before began.
        foreach (var program in programs)
        {
            await using var host = HostProcess.Launch(program, folder, folder, new Dictionary<string, string>());
            if (served > 0 && program == earlier.Program && await RefusesAsync(host, cancellationToken))
                continue; // this release has changed the store
            await host.WaitAsync(host.IsReadyAsync, TimeSpan.FromSeconds(120), "to be ready", cancellationToken);
            await PostAsync(host, "/letters", $"letter-{served}", cancellationToken);
            await PostAsync(host, "/jobs", $"job-{served}", cancellationToken);
            if (served > 0)
                await PostAsync(host, "/go", $"job-{served - 1}", cancellationToken);
            await AwaitAsync(host, "/api/dead-letters", _ => true, served + 1, cancellationToken);
            await AwaitAsync(host, "/api/workflows", one => one.GetProperty("state").GetString() == "completed", served, cancellationToken);
            await AwaitAsync(host, "/api/workflows", one => one.GetProperty("state").GetString() != "completed", 1, cancellationToken);
            Assert.That(await host.StopAsync(cancellationToken), Is.Zero, host.Output);
            Assert.That(host.Output, Does.Not.Contain("SQLite Error"));
            served++;
        }

        Assert.That(served, Is.GreaterThanOrEqualTo(3), "hosts that served: the last of them where the refused one had been");
        Assert.That(
            Directory.GetFiles(Path.Combine(folder, "out")).Select(File.ReadAllText).Order(),
            Is.EqualTo(Enumerable.Range(0, served - 1).Select(number => $"job-{number}"))
        );
    }

    // True once it has ended because the store is of a later version; false once it is ready.
    private static async Task<bool> RefusesAsync(HostProcess host, CancellationToken cancellationToken)
    {
        while (!host.HasExited)
        {
            try
            {
                if (await host.IsReadyAsync(cancellationToken))
                    return false;
            }
            catch (Exception ex) when (ex is HttpRequestException or SocketException)
            {
                // not listening yet, or any more
            }

            await Task.Delay(TimeSpan.FromMilliseconds(100), cancellationToken);
        }

        Assert.That(await host.WaitForExitAsync(cancellationToken), Is.Not.Zero);
        Assert.That(host.Output, Does.Contain("ESB-STORE-VERSION"));
        return true;
    }

    private static async Task PostAsync(HostProcess host, string path, string body, CancellationToken cancellationToken)
    {
        using var response = await host.PostAsync(path, body, "text/plain", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private static Task AwaitAsync(
        HostProcess host,
        string list,
        Func<JsonElement, bool> isMeant,
        int count,
        CancellationToken cancellationToken
    ) =>
        host.WaitAsync(
            async token => (await host.AskAsync(list, token)).GetProperty("items").EnumerateArray().Count(isMeant) == count,
            TimeSpan.FromSeconds(60),
            $"to have {count} in {list}",
            cancellationToken
        );
}
