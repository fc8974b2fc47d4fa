using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.Json;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>A whole host with a working directory of its own, on free ports.</summary>
internal abstract class RunningHost : IAsyncDisposable
{
    /// <summary>The variable that says where the host takes messages in.</summary>
    public const string PublicUrl = "ESB__LISTENERS__PUBLIC__URL";

    /// <summary>The variable that says where its management API listens.</summary>
    public const string ManagementUrl = "ESB__MANAGEMENT__URL";

    protected static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(45);

    private static readonly TimeSpan StartLimit = TimeSpan.FromMinutes(3);

    // Between two looks at a condition: each costs the host a request, and what takes longer is looked at less often.
    private static readonly TimeSpan ShortestPause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(250);

    private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(60) };

    private protected RunningHost(string folder, IReadOnlyDictionary<string, string> variables)
    {
        Folder = folder;
        Variables = new Dictionary<string, string>
        {
            [PublicUrl] = $"http://127.0.0.1:{FreePorts.Next()}",
            [ManagementUrl] = $"http://127.0.0.1:{FreePorts.Next()}",
            ["ESB__LIMITS__DRAINDELAY"] = "0s", // nobody has to turn away
        };
        foreach (var (name, value) in variables)
            Variables[name] = value;
        Public = new Uri(Variables[PublicUrl]);
        Management = new Uri(Variables[ManagementUrl]);
    }

    public string Folder { get; }

    public Uri Public { get; }

    public Uri Management { get; }

    public HttpClient Client => _client;

    /// <summary>What it has logged, line by line.</summary>
    public string Output => string.Join('\n', Lines);

    /// <summary>Its environment, beside that of the tests.</summary>
    protected Dictionary<string, string> Variables { get; }

    protected abstract IReadOnlyList<string> Lines { get; }

    /// <summary>How it ended; null while it runs.</summary>
    protected abstract string? Ending { get; }

    // Where a host says too much, how it began and how it ended.
    private string Shown
    {
        get
        {
            const int Most = 250;
            var lines = Lines;
            return lines.Count <= 2 * Most
                ? string.Join('\n', lines)
                : string.Join('\n', [.. lines.Take(Most), $"({lines.Count - (2 * Most)} more lines)", .. lines.TakeLast(Most)]);
        }
    }

    /// <summary>Starts a host and waits until it is ready: in the process of the tests, unless the test asks for
    /// <see cref="OwnProcessAttribute"/> or a host runs there already.</summary>
    public static async Task<RunningHost> StartAsync(
        string configuration,
        string folder,
        CancellationToken cancellationToken,
        IReadOnlyDictionary<string, string>? variables = null
    ) =>
        OwnProcessAttribute.IsAsked || HostOfTests.IsTaken
            ? await HostProcess.StartAsync(configuration, folder, cancellationToken, variables)
            : await HostOfTests.StartAsync(configuration, folder, cancellationToken, variables);

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
            catch (Exception ex) when (ex is HttpRequestException or SocketException)
            {
                // not listening yet, or not any more
            }

            if (Ending is { } ending)
                Assert.Fail($"The host ended {ending}:\n{Shown}");
            if (TimeProvider.System.GetElapsedTime(started) > limit)
                Assert.Fail($"Waited in vain for the host {what}:\n{Shown}");
            await Task.Delay(pause, cancellationToken);
        }
    }

    /// <summary>Waits until its log has all of these; its lines are written a moment after what they tell of.</summary>
    public Task WaitForLogAsync(CancellationToken cancellationToken, params string[] parts) =>
        WaitAsync(
            _ => Task.FromResult(parts.All(part => Output.Contains(part, StringComparison.Ordinal))),
            TimeSpan.FromSeconds(20),
            $"to log \"{string.Join("\" and \"", parts)}\"",
            cancellationToken
        );

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

    /// <summary>As <see cref="AskAsync"/>, whatever is answered.</summary>
    public Task<(HttpStatusCode Status, string Text)> AnswerAsync(string path, CancellationToken cancellationToken) =>
        AnswerAsync(HttpMethod.Get, path, cancellationToken);

    /// <summary>As <see cref="AskAsync"/>, with what is no JSON.</summary>
    public async Task<string> ReadAsync(string path, CancellationToken cancellationToken) =>
        await ReadAsync(HttpMethod.Get, path, cancellationToken) ?? throw new AssertionException($"{path} is not there");

    /// <summary>Tells the management API to do something.</summary>
    public async Task<JsonElement> TellAsync(string path, CancellationToken cancellationToken) =>
        JsonDocument
            .Parse(await ReadAsync(HttpMethod.Post, path, cancellationToken) ?? throw new AssertionException($"{path} is not there"))
            .RootElement;

    /// <summary>Asks the host to stop, as an operator would, and returns its exit code.</summary>
    public abstract Task<int> StopAsync(CancellationToken cancellationToken);

    /// <summary>Ends it as a crash does. For a host with a process of its own.</summary>
    public abstract void Kill();

    /// <summary>Sends a signal such as <c>TERM</c>, <c>STOP</c> or <c>CONT</c>. For a host with a process of its own.</summary>
    public abstract Task SignalAsync(string signal);

    public virtual ValueTask DisposeAsync()
    {
        _client.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>Waits until it is ready; disposes a host that does not become so.</summary>
    public async Task WaitUntilReadyAsync(CancellationToken cancellationToken)
    {
        try
        {
            await WaitAsync(IsReadyAsync, StartLimit, "to be ready", cancellationToken);
        }
        catch
        {
            await DisposeAsync();
            throw;
        }
    }

    private async Task<string?> ReadAsync(HttpMethod method, string path, CancellationToken cancellationToken)
    {
        var (status, text) = await AnswerAsync(method, path, cancellationToken);
        if (status == HttpStatusCode.NotFound)
            return null;
        Assert.That(status, Is.EqualTo(HttpStatusCode.OK).Or.EqualTo(HttpStatusCode.Accepted), $"{path}: {text}");
        return text;
    }

    private async Task<(HttpStatusCode Status, string Text)> AnswerAsync(
        HttpMethod method,
        string path,
        CancellationToken cancellationToken
    )
    {
        var key = await File.ReadAllTextAsync(Path.Combine(Folder, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(method, new Uri(Management, path));
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
        using var response = await _client.SendAsync(request, cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
    }
}
