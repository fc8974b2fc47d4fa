using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>What a host keeps of messages is for its own account alone.</summary>
public sealed class StoreRightsTests
{
    private const string Configuration = """
        {
          "topics": { "orders": {} },
          "audit": { "bodies": "whole" },
          "endpoints": {
            "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
            "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger", "fileName": "{message.id}.txt" }
          }
        }
        """;

    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-rights-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, CancelAfter(60_000)]
    public async Task Nothing_in_the_folder_of_the_store_can_be_read_by_others(CancellationToken cancellationToken)
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("Windows has no such modes.");
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), Configuration, cancellationToken);
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken);

        using var answer = await host.PostAsync("/orders", "{}", "application/json", cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(await host.StopAsync(cancellationToken), Is.Zero, host.Output);
        var data = new DirectoryInfo(Path.Combine(_folder.FullName, "esb-data"));
        const UnixFileMode Others = ~(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        Assert.That(data.UnixFileMode & Others, Is.EqualTo(UnixFileMode.None));
        var open = data.GetFileSystemInfos("*", SearchOption.AllDirectories)
            .Where(item => (item.UnixFileMode & Others) != 0)
            .Select(item => $"{item.FullName} {item.UnixFileMode}");
        Assert.That(open, Is.Empty);
    }
}
