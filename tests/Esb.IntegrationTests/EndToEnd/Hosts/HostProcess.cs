using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.Json;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>A whole host in a process and a working directory of its own, on free ports.</summary>
internal sealed class HostProcess : IAsyncDisposable
{
    /// <summary>The variable that says where the host takes messages in.</summary>
    public const string PublicUrl = "ESB__LISTENERS__PUBLIC__URL";

    /// <summary>The variable that says where its management API listens.</summary>
    public const string ManagementUrl = "ESB__MANAGEMENT__URL";

    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(45);

    // Between two looks at a condition: each costs the host a request, and what takes longer is looked at less often.
    private static readonly TimeSpan ShortestPause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(250);

    private readonly Process _process;
    private readonly ConcurrentQueue<string> _output = new();
    private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(60) };
    private bool _disposed;

    private HostProcess(
        string program,
        string configuration,
        string folder,
        IReadOnlyDictionary<string, string> variables,
        IReadOnlyList<string> launcher
    )
    {
        Folder = folder;
        IReadOnlyList<string> command = [.. launcher, "dotnet", program, "run", configuration];
        var start = new ProcessStartInfo(command[0], command.Skip(1))
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment[PublicUrl] = $"http://127.0.0.1:{FreePorts.Next()}";
        start.Environment[ManagementUrl] = $"http://127.0.0.1:{FreePorts.Next()}";
        start.Environment["ESB__LIMITS__DRAINDELAY"] = "0s"; // nobody has to turn away
        foreach (var (name, value) in variables)
            start.Environment[name] = value;
        Public = new Uri(start.Environment[PublicUrl]!);
        Management = new Uri(start.Environment[ManagementUrl]!);
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += Keep;
        _process.ErrorDataReceived += Keep;
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    public string Folder { get; }

    public Uri Public { get; }

    public Uri Management { get; }

    public HttpClient Client => _client;

    public string Output => string.Join('\n', _output);

    // Where a host says too much, how it began and how it ended.
    private string Shown
    {
        get
        {
            const int Most = 250;
            var lines = _output.ToArray();
            return lines.Length <= 2 * Most
                ? string.Join('\n', lines)
                : string.Join('\n', [.. lines.Take(Most), $"({lines.Length - (2 * Most)} more lines)", .. lines.TakeLast(Most)]);
        }
    }

    public int Id => _process.Id;

    public bool HasExited => _process.HasExited;

    /// <summary>The most memory that it has had, in bytes; Linux counts it.</summary>
    public long PeakMemory =>
        File.ReadLines($"/proc/{Id}/status")
            .Where(line => line.StartsWith("VmHWM:", StringComparison.Ordinal))
            .Select(line => 1024 * long.Parse(line[6..^2], CultureInfo.InvariantCulture))
            .Single();

    /// <summary>Starts a host and waits until it is ready.</summary>
    public static async Task<HostProcess> StartAsync(
        string configuration,
        string folder,
        CancellationToken cancellationToken,
        IReadOnlyDictionary<string, string>? variables = null
    )
    {
        var host = Launch(Repository.Host, configuration, folder, variables ?? new Dictionary<string, string>());
        try
        {
            await host.WaitAsync(host.IsReadyAsync, StartLimit, "to be ready", cancellationToken);
            return host;
        }
        catch
        {
            await host.DisposeAsync();
            throw;
        }
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

    public async Task<bool> IsReadyAsync(CancellationToken cancellationToken)
    {
        using var response = await _client.GetAsync(new Uri(Management, "/health/ready"), cancellationToken);
        return response.IsSuccessStatusCode;
    }

    /// <summary>Waits until something is so; fails with the host's output when it does not become so.</summary>
    public async Task WaitAsync(
        Func<CancellationToken, Task<bool>> condition,
        TimeSpan limit,
        string what,
        CancellationToken cancellationToken
    )
    {
        var started = TimeProvider.System.GetTimestamp();
        for (var pause = ShortestPause; ; pause = pause < LongestPause ? 1.2 * pause : LongestPause)
        {
            try
            {
                if (await condition(cancellationToken))
                    return;
            }
            catch (HttpRequestException)
            {
                // not listening yet
            }

            if (_process.HasExited)
                Assert.Fail($"The host ended with exit code {_process.ExitCode}:\n{Shown}");
            if (TimeProvider.System.GetElapsedTime(started) > limit)
                Assert.Fail($"Waited in vain for the host {what}:\n{Shown}");
            await Task.Delay(pause, cancellationToken);
        }
    }

    public Task WaitForFileAsync(string path, CancellationToken cancellationToken) =>
        WaitAsync(_ => Task.FromResult(File.Exists(path)), TimeSpan.FromSeconds(20), $"to write {path}", cancellationToken);

    public Task<HttpResponseMessage> PostAsync(string path, string body, string contentType, CancellationToken cancellationToken)
    {
        var content = new StringContent(body, new MediaTypeHeaderValue(contentType));
        return _client.PostAsync(new Uri(Public, path), content, cancellationToken);
    }

    /// <summary>Asks the management API with the key that the host wrote.</summary>
    public async Task<JsonElement> AskAsync(string path, CancellationToken cancellationToken) =>
        await FindAsync(path, cancellationToken) ?? throw new AssertionException($"{path} is not there");

    /// <summary>As <see cref="AskAsync"/>, of what may not be there (404).</summary>
    public async Task<JsonElement?> FindAsync(string path, CancellationToken cancellationToken) =>
        await ReadAsync(HttpMethod.Get, path, cancellationToken) is { } text ? JsonDocument.Parse(text).RootElement : null;

    /// <summary>As <see cref="AskAsync"/>, with what is no JSON.</summary>
    public async Task<string> ReadAsync(string path, CancellationToken cancellationToken) =>
        await ReadAsync(HttpMethod.Get, path, cancellationToken) ?? throw new AssertionException($"{path} is not there");

    /// <summary>Tells the management API to do something.</summary>
    public async Task<JsonElement> TellAsync(string path, CancellationToken cancellationToken) =>
        JsonDocument
            .Parse(await ReadAsync(HttpMethod.Post, path, cancellationToken) ?? throw new AssertionException($"{path} is not there"))
            .RootElement;

    /// <summary>Asks the host to stop, as an operator would, and returns its exit code.</summary>
    public async Task<int> StopAsync(CancellationToken cancellationToken)
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

    /// <summary>Sends a signal such as <c>TERM</c>, <c>STOP</c> or <c>CONT</c>.</summary>
    public async Task SignalAsync(string signal)
    {
        using var kill = Process.Start("kill", [$"-{signal}", $"{_process.Id}"]);
        await kill.WaitForExitAsync();
    }

    public void Kill() => _process.Kill(entireProcessTree: true);

    public async ValueTask DisposeAsync()
    {
        if (_disposed)
            return;
        _disposed = true;
        if (!_process.HasExited)
            Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
        _client.Dispose();
    }

    private async Task<string?> ReadAsync(HttpMethod method, string path, CancellationToken cancellationToken)
    {
        var key = await File.ReadAllTextAsync(Path.Combine(Folder, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(method, new Uri(Management, path));
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
        using var response = await _client.SendAsync(request, cancellationToken);
        if (response.StatusCode == HttpStatusCode.NotFound)
            return null;
        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK).Or.EqualTo(HttpStatusCode.Accepted), $"{path}: {text}");
        return text;
    }

    private void Keep(object sender, DataReceivedEventArgs line)
    {
        if (line.Data is not null)
            _output.Enqueue(line.Data);
    }
}
