using System.Text;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Transport;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Http.Transport;

/// <summary>Requests that are not brief never go on on a thread that waits for sockets: whatever blocks there would hold up others, and may
/// wait for itself.</summary>
[CancelAfter(60_000), Platform("Linux")]
public sealed class RequestThreadTests
{
    private readonly List<string> _seen = [];
    private ListenerConfig _config = null!;
    private KestrelListener _listener = null!;

    [SetUp]
    public async Task StartListener()
    {
        _seen.Clear();
        _config = new ListenerConfig { Name = "public", Url = $"http://127.0.0.1:{FreePorts.Next()}" };
        var (brief, lengthy) = (Route("/brief"), Route("/long"));
        brief.Open(context => AnswerAsync(context, "brief"), isBrief: true);
        lengthy.Open(context => AnswerAsync(context, "long"), isBrief: false);
        _listener = new KestrelListener(_config, TimeProvider.System, NullLoggerFactory.Instance);
        _listener.Serve(_config, new HttpRoutes([brief, lengthy]));
        await _listener.StartAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task StopListener() => await _listener.DisposeAsync();

    [Test]
    public async Task Requests_of_one_connection_go_on_where_each_of_them_may(CancellationToken cancellationToken)
    {
        using var caller = await RawConnection.OpenAsync(new Uri(_config.Url).Port, cancellationToken);

        foreach (var path in (string[])["/long", "/brief", "/brief", "/long", "/long", "/brief", "/brief"])
            await AskAsync(caller, path, cancellationToken);

        Assert.That(
            _seen,
            Is.EqualTo(
                (string[])
                    [
                        .. Enumerable.Repeat("long, on the pool", 3),
                        "brief, on the pool", // nobody knew before its head was read
                        "brief, where the socket is",
                        "brief, where the socket is",
                        .. Enumerable.Repeat("brief, where the socket is", 3),
                        .. Enumerable.Repeat("long, on the pool", 6),
                        "brief, on the pool",
                        "brief, where the socket is",
                        "brief, where the socket is",
                        .. Enumerable.Repeat("brief, where the socket is", 3),
                    ]
            )
        );
    }

    // The body comes in two pieces, each only when the one before was read.
    private async Task AskAsync(RawConnection caller, string path, CancellationToken cancellationToken)
    {
        var before = _seen.Count;
        await caller.WriteAsync($"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n", cancellationToken);
        await SeenAsync(before + 1, cancellationToken);
        await caller.WriteAsync("a", cancellationToken);
        await SeenAsync(before + 2, cancellationToken);
        await caller.WriteAsync("b", cancellationToken);
        await caller.ReadUntilAsync("answered", cancellationToken);
        await SeenAsync(before + 3, cancellationToken);
    }

    private async Task SeenAsync(int count, CancellationToken cancellationToken)
    {
        while (true)
        {
            lock (_seen)
            {
                if (_seen.Count >= count)
                    return;
            }

            await Task.Delay(10, cancellationToken);
        }
    }

    private async Task AnswerAsync(HttpContext context, string kind)
    {
        Note(kind);
        for (var i = 0; i < 2; i++)
        {
            await context.Request.Body.ReadExactlyAsync(new byte[1]);
            Note(kind);
        }

        await context.Response.Body.WriteAsync(Encoding.ASCII.GetBytes("answered"));
    }

    private void Note(string kind)
    {
        lock (_seen)
            _seen.Add($"{kind}, {(PollingThread.IsCurrent ? "where the socket is" : "on the pool")}");
    }

    private static HttpRoute Route(string path) => new(path.TrimStart('/'), path, ["POST"], [], HttpProblems.Instance);
}
