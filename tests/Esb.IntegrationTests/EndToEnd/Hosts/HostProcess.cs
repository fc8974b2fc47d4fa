using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>A host in a process of its own: it can be killed, and its memory and processor time are its own.</summary>
internal sealed class HostProcess : RunningHost
{
    private readonly Process _process;
    private readonly ConcurrentQueue<string> _output = new();
    private bool _disposed;

    private HostProcess(
        string program,
        string configuration,
        string folder,
        IReadOnlyDictionary<string, string> variables,
        IReadOnlyList<string> launcher
    )
        : base(folder, variables)
    {
        IReadOnlyList<string> command = [.. launcher, "dotnet", program, "run", configuration];
        var start = new ProcessStartInfo(command[0], command.Skip(1))
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var (name, value) in Variables)
            start.Environment[name] = value;
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += Keep;
        _process.ErrorDataReceived += Keep;
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    public int Id => _process.Id;

    public bool HasExited => _process.HasExited;

    /// <summary>The most memory that it has had, in bytes; Linux counts it.</summary>
    public long PeakMemory =>
        File.ReadLines($"/proc/{Id}/status")
            .Where(line => line.StartsWith("VmHWM:", StringComparison.Ordinal))
            .Select(line => 1024 * long.Parse(line[6..^2], CultureInfo.InvariantCulture))
            .Single();

    protected override IReadOnlyList<string> Lines => [.. _output];

    protected override string? Ending => _process.HasExited ? $"with exit code {_process.ExitCode}" : null;

    /// <summary>Starts a host and waits until it is ready.</summary>
    public static new async Task<HostProcess> StartAsync(
        string configuration,
        string folder,
        CancellationToken cancellationToken,
        IReadOnlyDictionary<string, string>? variables = null
    )
    {
        var host = Launch(Repository.Host, configuration, folder, variables ?? new Dictionary<string, string>());
        await host.WaitUntilReadyAsync(cancellationToken);
        return host;
    }

    /// <summary>Starts a host, or another program with its command line, and waits for nothing.</summary>
    /// <param name="program">What is run by <c>dotnet</c>.</param>
    /// <param name="configuration">What it reads.</param>
    /// <param name="folder">Where it works.</param>
    /// <param name="variables">Its environment, beside that of the tests.</param>
    /// <param name="launcher">What comes before its command line, and becomes it.</param>
    public static HostProcess Launch(
        string program,
        string configuration,
        string folder,
        IReadOnlyDictionary<string, string> variables,
        IReadOnlyList<string>? launcher = null
    ) => new(program, configuration, folder, variables, launcher ?? []);

    public override async Task<int> StopAsync(CancellationToken cancellationToken)
    {
        if (_process.HasExited)
            return _process.ExitCode;
        await SignalAsync("TERM");
        return await WaitForExitAsync(cancellationToken);
    }

    /// <summary>Waits for the end of a host that was asked to stop, and returns its exit code.</summary>
    public async Task<int> WaitForExitAsync(CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(StopLimit);
        await _process.WaitForExitAsync(limit.Token);
        return _process.ExitCode;
    }

    public override async Task SignalAsync(string signal)
    {
        using var kill = Process.Start("kill", [$"-{signal}", $"{_process.Id}"]);
        await kill.WaitForExitAsync();
    }

    public override void Kill() => _process.Kill(entireProcessTree: true);

    public override async ValueTask DisposeAsync()
    {
        if (_disposed)
            return;
        _disposed = true;
        if (!_process.HasExited)
            Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
        await base.DisposeAsync();
    }

    private void Keep(object sender, DataReceivedEventArgs line)
    {
        if (line.Data is not null)
            _output.Enqueue(line.Data);
    }
}
