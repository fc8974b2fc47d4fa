using System.Net.Sockets;
using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;

namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>A place in a farm: a working folder and two ports, in which one host process after the other lives. Used by one fault at a
/// time.</summary>
internal sealed class FarmHost(
    string name,
    string program,
    string configuration,
    string folder,
    IReadOnlyDictionary<string, string> variables,
    IReadOnlyList<string> launcher
) : IAsyncDisposable
{
    private readonly Dictionary<string, string> _variables = new(variables)
    {
        [HostProcess.PublicUrl] = $"http://127.0.0.1:{FreePorts.Next()}",
        [HostProcess.ManagementUrl] = $"http://127.0.0.1:{FreePorts.Next()}",
    };

    private readonly List<string> _earlier = [];
    private HostProcess? _process;

    public string Name => name;

    public string Folder => folder;

    /// <summary>What <c>dotnet</c> runs for the processes to come.</summary>
    public string Program { get; set; } = program;

    public HostProcess Process => _process ?? throw new InvalidOperationException($"{name} was not started.");

    public bool IsStarted => _process is not null;

    public Uri Public => new(_variables[HostProcess.PublicUrl]);

    /// <summary>What all its processes wrote.</summary>
    public string Output => string.Join("\n--- the next process ---\n", [.. _earlier, _process?.Output ?? ""]);

    public int Starts { get; private set; }

    /// <summary>Starts a process; does not wait until it is ready, as its servers may be away.</summary>
    public void Start()
    {
        if (_process is not null)
            throw new InvalidOperationException($"{name} runs already.");
        Directory.CreateDirectory(folder);
        _process = HostProcess.Launch(Program, configuration, folder, _variables, launcher);
        Starts++;
    }

    /// <summary>Changes a variable for the processes to come.</summary>
    public void Set(string variable, string value) => _variables[variable] = value;

    public async Task KillAsync()
    {
        if (_process is null)
            return;
        _process.Kill();
        await ForgetAsync();
    }

    /// <summary>Asks the process to stop and returns its exit code, and how long it took.</summary>
    public async Task<(int ExitCode, TimeSpan Took)> StopAsync(CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        var exitCode = await Process.StopAsync(cancellationToken);
        var took = TimeProvider.System.GetElapsedTime(started);
        await ForgetAsync();
        return (exitCode, took);
    }

    public Task SignalAsync(string signal) => Process.SignalAsync(signal);

    /// <summary>Whether it says now that it is ready; not while it does not answer.</summary>
    public async Task<bool> IsReadyAsync(CancellationToken cancellationToken)
    {
        try
        {
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            limit.CancelAfter(TimeSpan.FromSeconds(10));
            return await Process.IsReadyAsync(limit.Token);
        }
        catch (Exception ex)
            when (ex is HttpRequestException or SocketException or OperationCanceledException && !cancellationToken.IsCancellationRequested)
        {
            return false;
        }
    }

    /// <summary>Whether it says now that it runs an endpoint; not while it does not answer.</summary>
    public async Task<bool> IsRunningAsync(string endpoint)
    {
        try
        {
            using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(1));
            var endpoints = await Process.AskAsync("/api/endpoints", limit.Token);
            return endpoints
                .GetProperty("items")
                .EnumerateArray()
                .Any(item => item.GetProperty("name").GetString() == endpoint && item.GetProperty("state").GetString() == "running");
        }
        catch (Exception ex)
            when (ex is HttpRequestException or SocketException or OperationCanceledException or InvalidOperationException or IOException)
        {
            return false; // dead, stopped, or not up yet
        }
    }

    public Task WaitForReadyAsync(CancellationToken cancellationToken) =>
        Process.WaitAsync(Process.IsReadyAsync, TimeSpan.FromSeconds(120), "to be ready", cancellationToken);

    public ValueTask DisposeAsync() => _process is null ? ValueTask.CompletedTask : new ValueTask(KillAsync());

    /// <summary>After the process has ended, or to make sure that it has.</summary>
    public async Task ForgetAsync()
    {
        if (_process is not { } process)
            return;
        await process.DisposeAsync();
        _earlier.Add(process.Output);
        _process = null;
    }
}
