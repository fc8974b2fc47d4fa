using System.Text.Json;

namespace SideBySide.Servers;

/// <summary>A host of the bus with a configuration of <c>loadtests/compare.d</c>, in a folder of its own.</summary>
internal sealed class EsbHost : IAsyncDisposable
{
    /// <summary>The program of the repository.</summary>
    public const string Program = "Esb.Host/bin/Release/net10.0/esb.dll";

    private static readonly TimeSpan StoreDeadline = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    private readonly ServerProcess _process;
    private readonly string _folder;
    private readonly string _management;

    private EsbHost(ServerProcess process, string folder, string management, HostProbe probe, string url, string collector) =>
        (_process, _folder, _management, Probe, Url, Collector) = (process, folder, management, probe, url, collector);

    public HostProbe Probe { get; }

    /// <summary>Where its inbound endpoints are.</summary>
    public string Url { get; }

    public string Collector { get; }

    public TimeSpan ProcessorTime => _process.ProcessorTime;

    /// <summary>Memory in use, shared parts included.</summary>
    public long MemoryBytes => _process.MemoryBytes;

    /// <summary>The largest memory so far, shared parts included.</summary>
    public long PeakMemoryBytes => _process.PeakMemoryBytes;

    /// <param name="surroundings">Where things are.</param>
    /// <param name="configuration">A folder of <c>loadtests/compare.d</c>.</param>
    /// <param name="name">Of its folder.</param>
    /// <param name="variables">Its environment, beside ours.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <param name="program">Another program with the command line of the host.</param>
    /// <exception cref="NotRunException">It does not start; the message says why.</exception>
    public static async Task<EsbHost> StartAsync(
        Surroundings surroundings,
        string configuration,
        string name,
        IEnumerable<KeyValuePair<string, string>> variables,
        CancellationToken cancellationToken,
        string program = Program
    )
    {
        var folder = surroundings.Folder($"host-{name}");
        var probe = new HostProbe(Path.Combine(folder, "probe"));
        var (url, management) = ($"http://127.0.0.1:{FreePorts.Next()}", $"http://127.0.0.1:{FreePorts.Next()}");
        var process = await ServerProcess.StartAsync(
            $"the host of {configuration}",
            folder,
            ["dotnet", surroundings.Find(program), "run", surroundings.Find($"loadtests/compare.d/{configuration}")],
            [
                new("ESB__LISTENERS__PUBLIC__URL", url),
                new("ESB__MANAGEMENT__URL", management),
                new("ESB__LIMITS__DRAINDELAY", "0s"),
                .. probe.Variables,
                .. variables,
            ],
            token => Http.AnswersAsync($"{management}/health/ready", token),
            cancellationToken
        );
        try
        {
            return new EsbHost(process, folder, management, probe, url, await probe.CollectorAsync(cancellationToken));
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }
    }

    /// <summary>Waits until the facts of all that it has done are in its store.</summary>
    public async Task StoreFactsAsync(CancellationToken cancellationToken)
    {
        var key = await File.ReadAllTextAsync(Path.Combine(_folder, "esb-data", "management.key"), cancellationToken);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(StoreDeadline);
        while (await WaitingAsync() > 0)
            await Task.Delay(Pause, limit.Token);

        async Task<long> WaitingAsync() =>
            (await Http.GetJsonAsync($"{_management}/api/metrics", key.Trim(), limit.Token)).TryGetProperty("auditQueue", out var queue)
            && queue.ValueKind != JsonValueKind.Null
                ? queue.GetProperty("waiting").GetInt64()
                : 0; // what it records is in its store at once
    }

    /// <summary>Ends it as a crash would.</summary>
    public void Kill() => _process.Kill();

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
