using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Transport;
using Esb.Tests.Fakes;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Http.Transport;

/// <summary>What computes or blocks on a thread that waits for sockets is logged, with the connection.</summary>
[CancelAfter(60_000), Platform("Linux"), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class HeldThreadTests
{
    // Longer than the limit, even if the thread had stood still just before.
    private static readonly TimeSpan Hold = TimeSpan.FromMilliseconds(400);

    private readonly ManualTime _time = new();
    private readonly LogLines _log = new();
    private readonly ManualResetEventSlim _release = new();
    private Action _work = () => { };
    private volatile bool _worked;
    private KestrelListener _listener = null!;
    private HeldThreads _heldThreads = null!;
    private int _port;

    [SetUp]
    public async Task StartListener()
    {
        _port = FreePorts.Next();
        var config = new ListenerConfig { Name = "public", Url = $"http://127.0.0.1:{_port}" };
        var route = new HttpRoute("work", "/work", ["POST"], [], HttpProblems.Instance);
        route.Open(AnswerAsync, isBrief: true);
        _heldThreads = new HeldThreads(_time, new Logger<HeldThreads>(new LoggerFactory([_log])));
        _listener = new KestrelListener(config, TimeProvider.System, NullLoggerFactory.Instance);
        _listener.Serve(config, new HttpRoutes([route]));
        await _listener.StartAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task StopListener()
    {
        _release.Set();
        await _listener.DisposeAsync();
        _heldThreads.Dispose();
        _release.Dispose();
    }

    [Test]
    public async Task Thread_that_blocks_is_told_of_with_its_connection(CancellationToken cancellationToken)
    {
        using var never = new ManualResetEventSlim();

        await WorkAsync(() => never.Wait(Hold), cancellationToken);

        var (level, text) = await LineAsync("was held for", cancellationToken);
        Assert.That(level, Is.EqualTo(LogLevel.Warning));
        Assert.That(text, Does.Match($@"^Socket thread \d+ was held for \d+ ms by the connection 127\.0\.0\.1:{_port} - 127\.0\.0\.1:\d+"));
    }

    [Test]
    public async Task Thread_that_computes_is_told_of(CancellationToken cancellationToken)
    {
        await WorkAsync(Compute, cancellationToken);

        Assert.That((await LineAsync("was held for", cancellationToken)).Level, Is.EqualTo(LogLevel.Warning));
    }

    [Test]
    public async Task Thread_that_is_held_without_an_end_is_told_of_meanwhile(CancellationToken cancellationToken)
    {
        var work = WorkAsync(_release.Wait, cancellationToken);
        while (_log.All.All(line => line.Level != LogLevel.Error))
        {
            _time.Advance(TimeSpan.FromSeconds(5)); // one look
            await Task.Delay(10, cancellationToken);
        }

        var text = _log.All.First(line => line.Level == LogLevel.Error).Text;
        _release.Set();
        await work;

        Assert.That(text, Does.Match(@"^Socket thread \d+ has been held for more than 5 s"));
    }

    private static void Compute()
    {
        var thread = new StalledTime();
        var (began, stalled) = (TimeProvider.System.GetTimestamp(), thread.Read());
        while (TimeProvider.System.GetElapsedTime(began) - (thread.Read() - stalled) < Hold)
            Thread.SpinWait(1_000);
    }

    // The first request of a connection is on the pool, and so may be one that comes before the answer of the one before is written.
    private async Task WorkAsync(Action work, CancellationToken cancellationToken)
    {
        _work = work;
        using var caller = await RawConnection.OpenAsync(_port, cancellationToken);
        while (!_worked)
        {
            await caller.WriteAsync("POST /work HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n", cancellationToken);
            await caller.ReadUntilAsync("answered", cancellationToken);
        }
    }

    private Task AnswerAsync(HttpContext context)
    {
        if (PollingThread.IsCurrent)
        {
            _work();
            _worked = true;
        }

        return context.Response.WriteAsync("answered");
    }

    private async Task<(LogLevel Level, string Text)> LineAsync(string part, CancellationToken cancellationToken)
    {
        while (true)
        {
            foreach (var line in _log.All)
            {
                if (line.Text.Contains(part, StringComparison.Ordinal))
                    return (line.Level, line.Text);
            }

            await Task.Delay(10, cancellationToken);
        }
    }
}
