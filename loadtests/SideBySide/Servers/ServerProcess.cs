using System.Diagnostics;

namespace SideBySide.Servers;

/// <summary>A server that was started for a comparison: its output goes into a log, and disposing ends it and its children.</summary>
internal sealed class ServerProcess : IAsyncDisposable
{
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan StopDeadline = TimeSpan.FromSeconds(10);

    private readonly Process _process;
    private readonly string _name;
    private readonly string _log;

    private ServerProcess(Process process, string name, string log) => (_process, _name, _log) = (process, name, log);

    /// <summary>Processor time of the process and of its children so far.</summary>
    public TimeSpan ProcessorTime => ProcessTree.ProcessorTime(_process.Id);

    /// <summary>Memory of the process itself.</summary>
    public long MemoryBytes
    {
        get
        {
            _process.Refresh();
            return _process.WorkingSet64;
        }
    }

    /// <summary>The largest memory of the process itself so far; Linux counts it.</summary>
    public long PeakMemoryBytes
    {
        get
        {
            _process.Refresh();
            return _process.PeakWorkingSet64;
        }
    }

    /// <summary>Starts a server and waits until it is ready; ends it if that fails.</summary>
    /// <param name="name">Names the log, and the server in messages.</param>
    /// <param name="folder">Where the log goes; also the working directory.</param>
    /// <param name="command">The program and its arguments.</param>
    /// <param name="variables">Laid over the environment of this process.</param>
    /// <param name="isReady">Asked again and again, for a minute.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="NotRunException">It ended, or is not ready in time; the message has its last lines.</exception>
    public static async Task<ServerProcess> StartAsync(
        string name,
        string folder,
        IEnumerable<string> command,
        IEnumerable<KeyValuePair<string, string>> variables,
        Func<CancellationToken, Task<bool>> isReady,
        CancellationToken cancellationToken
    )
    {
        var server = Start(name, folder, command, variables);
        try
        {
            await server.WaitUntilAsync(isReady, cancellationToken);
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    /// <summary>Ends it as a crash would.</summary>
    public void Kill() => _process.Kill(entireProcessTree: true);

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            using var terminate = Process.Start("kill", ["-TERM", $"{_process.Id}"]);
            using var deadline = new CancellationTokenSource(StopDeadline);
            try
            {
                await _process.WaitForExitAsync(deadline.Token);
            }
            catch (OperationCanceledException)
            {
                Kill();
            }
        }

        _process.Dispose();
    }

    private static ServerProcess Start(
        string name,
        string folder,
        IEnumerable<string> command,
        IEnumerable<KeyValuePair<string, string>> variables
    )
    {
        Directory.CreateDirectory(folder);
        var log = Path.Combine(folder, "log");
        // The shell is replaced by the program; it only opens the log.
        var start = new ProcessStartInfo("/bin/sh") { WorkingDirectory = folder };
        foreach (var argument in (string[])["-c", "log=$1; shift; exec \"$@\" </dev/null >\"$log\" 2>&1", "sh", log, .. command])
        {
            start.ArgumentList.Add(argument);
        }

        foreach (var (key, value) in variables)
            start.Environment[key] = value;
        return new ServerProcess(Process.Start(start)!, name, log);
    }

    private async Task WaitUntilAsync(Func<CancellationToken, Task<bool>> isReady, CancellationToken cancellationToken)
    {
        var begin = Stopwatch.GetTimestamp();
        while (!await isReady(cancellationToken))
        {
            if (_process.HasExited)
                throw new NotRunException($"{_name} ended: {LastLines()}");
            if (Stopwatch.GetElapsedTime(begin) > StartDeadline)
                throw new NotRunException($"{_name} is not ready: {LastLines()}");
            await Task.Delay(100, cancellationToken);
        }
    }

    private string LastLines() => File.Exists(_log) ? string.Join(" / ", File.ReadLines(_log).TakeLast(5)) : "no output";
}
