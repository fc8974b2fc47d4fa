using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A host whose memory is above its mark turns callers away and leaves files where they are, until it is below.</summary>
[CancelAfter(120_000)]
[OwnProcess]
public sealed class MemoryMarkTests
{
    private DirectoryInfo _folder = null!;

    private string Configuration => Path.Combine(_folder.FullName, "esb.json");

    private string In => Path.Combine(_folder.FullName, "in");

    private string Out => Path.Combine(_folder.FullName, "out");

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-memory-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, Category("Thorough")]
    public async Task Callers_and_files_wait_while_the_memory_is_above_its_mark(CancellationToken cancellationToken)
    {
        await WriteAsync(high: 3, low: 2);
        Directory.CreateDirectory(In);
        await using var host = await RunningHost.StartAsync(
            Configuration,
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            new Dictionary<string, string> { ["DOTNET_GCHeapHardLimit"] = "0x6000000" } // 96 MiB, of which any host uses 3 %
        );
        await host.WaitAsync(
            async token => await PostAsync(host, token) == HttpStatusCode.ServiceUnavailable,
            TimeSpan.FromSeconds(30),
            "to turn callers away",
            cancellationToken
        );
        await File.WriteAllTextAsync(Path.Combine(In, "1.txt"), "waits", cancellationToken);
        var ready = default(JsonElement);
        await host.WaitAsync(
            async token => (ready = await host.AskAsync("/health/ready", token)).GetProperty("notices").GetArrayLength() > 0,
            TimeSpan.FromSeconds(30),
            "to tell why",
            cancellationToken
        );
        await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken); // some looks at the folder
        Assert.That(File.Exists(Path.Combine(In, "1.txt")), "files wait, too");

        await WriteAsync(high: 95, low: 90);
        var (exitCode, _, error) = await CommandLine.RunAsync(
            host.Folder,
            cancellationToken,
            "reload",
            "--url",
            host.Management.OriginalString
        );
        Assert.That(exitCode, Is.Zero, error);
        await host.WaitAsync(
            async token => await PostAsync(host, token) == HttpStatusCode.Accepted,
            TimeSpan.FromSeconds(30),
            "to accept calls again",
            cancellationToken
        );
        await host.WaitAsync(
            _ => Task.FromResult(!File.Exists(Path.Combine(In, "1.txt")) && Directory.GetFiles(Out).Length >= 2),
            TimeSpan.FromSeconds(30),
            "to take the file",
            cancellationToken
        );

        Assert.That(ready.GetProperty("ready").GetBoolean(), Is.True);
        Assert.That(ready.GetProperty("notices").GetRawText(), Does.Contain("ESB-MARK-CROSSED: memory"));
    }

    private static async Task<HttpStatusCode> PostAsync(RunningHost host, CancellationToken cancellationToken)
    {
        using var response = await host.PostAsync("/orders", "{}", "application/json", cancellationToken);
        return response.StatusCode;
    }

    private Task WriteAsync(int high, int low) =>
        File.WriteAllTextAsync(
            Configuration,
            $$"""
            {
              "name": "memory",
              "limits": { "memoryHigh": {{high}}, "memoryLow": {{low}} },
              "topics": { "orders": {} },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "files": { "type": "file-inbound", "folder": "{{In}}", "publish": "orders.file" },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "{{Out}}", "fileName": "{message.id}" }
              }
            }
            """
        );
}
