using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>The mark of the processor time: crossed while a host computes, and left again when it has nothing to do.</summary>
[CancelAfter(240_000), Category("Thorough")]
[OwnProcess]
public sealed class ProcessorMarkTests
{
    private const int Callers = 16; // on a busy machine the host needs its share, too

    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-processor-");
        var configuration = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "busy.js"),
            "export default () => { let sum = 0; for (let i = 0; i < 20000; i++) sum += i % 7; return { sum }; }"
        );
        await File.WriteAllTextAsync(
            configuration,
            """
            {
              "name": "processor",
              "limits": { "processorHigh": 10, "processorLow": 5 },
              "maps": { "busy": { "file": "busy.js", "limits": { "time": "30s" } } },
              "processes": { "compute": [{ "transform": "busy" }] },
              "endpoints": {
                "compute": { "type": "http-inbound", "path": "/compute", "mode": "request-reply", "process": "compute" }
              }
            }
            """
        );
        _host = await RunningHost.StartAsync(configuration, _folder.CreateSubdirectory("host").FullName, CancellationToken.None);
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Host_that_computes_crosses_the_mark_and_leaves_it_when_it_rests(CancellationToken cancellationToken)
    {
        await AwaitAsync(isCrossed: false, cancellationToken); // its start is work, too
        var before = (await MarkAsync(cancellationToken))!.Value.GetProperty("crossings").GetInt64();
        using var done = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var computing = Enumerable.Range(0, Callers).Select(_ => ComputeAsync(done.Token)).ToList();
        await AwaitAsync(isCrossed: true, cancellationToken);
        var ready = await _host.AskAsync("/health/ready", cancellationToken);
        await done.CancelAsync();
        await Task.WhenAll(computing);
        await AwaitAsync(isCrossed: false, cancellationToken);

        Assert.That(ready.GetProperty("ready").GetBoolean(), "busy is no failure");
        Assert.That(ready.GetProperty("notices").GetRawText(), Does.Contain("ESB-MARK-CROSSED: processor"));
        Assert.That((await MarkAsync(cancellationToken))!.Value.GetProperty("crossings").GetInt64(), Is.GreaterThan(before));
    }

    private async Task ComputeAsync(CancellationToken done)
    {
        while (!done.IsCancellationRequested)
        {
            using var answer = await _host.PostAsync("/compute", "{}", "application/json", CancellationToken.None);
            answer.EnsureSuccessStatusCode();
        }
    }

    private Task AwaitAsync(bool isCrossed, CancellationToken cancellationToken) =>
        _host.WaitAsync(
            async token => (await MarkAsync(token))?.GetProperty("isCrossed").GetBoolean() == isCrossed,
            TimeSpan.FromSeconds(90),
            $"to {(isCrossed ? "cross" : "leave")} the mark of the processor",
            cancellationToken
        );

    private async Task<JsonElement?> MarkAsync(CancellationToken cancellationToken) =>
        (await _host.AskAsync("/api/marks", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .Where(mark => mark.GetProperty("name").GetString() == "processor")
            .Select(mark => (JsonElement?)mark)
            .SingleOrDefault();
}
