using Esb.Core;
using Esb.Core.Configuration;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Tests.Host.Management;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Host.Lifecycle;

[CancelAfter(20_000)]
public sealed class EsbApplicationTests
{
    private DirectoryInfo _folder = null!;
    private ListedLog _log = null!;

    [SetUp]
    public void CreateFolder()
    {
        _folder = Directory.CreateTempSubdirectory("esb-");
        _log = new ListedLog();
    }

    [TearDown]
    public void DeleteFolder()
    {
        _folder.Delete(recursive: true);
        _log.Dispose();
    }

    [Test]
    public async Task First_screen_says_what_runs_and_where_to_send_and_look(CancellationToken cancellationToken)
    {
        using var stop = new CancellationTokenSource();
        _log.Heard = line =>
        {
            if (line.Contains("is running", StringComparison.Ordinal)) stop.Cancel();
        };
        await using var services = await BuildAsync();

        var outcome = await new EsbApplication(services).RunAsync(stop.Token, cancellationToken);

        Assert.That(outcome.IsClean, Is.True);
        Assert.That(_log.Lines, Does.Contain("transport memory: what is accepted dies with this process"));
        Assert.That(_log.Lines, Does.Contain("process receive-order: log(hello)"));
        Assert.That(_log.Lines, Does.Contain("endpoint shop: http-inbound, http://127.0.0.1:8080/orders → receive-order"));
        Assert.That(_log.Lines, Does.Contain("endpoint ledger: file-outbound, orders.# → ledger; 1 instance, 1 at once, parallel"));
        Assert.That(_log.Lines, Does.Contain("send to http://127.0.0.1:8080/orders (shop)"));
        Assert.That(_log.Lines, Has.Some.Match(@"^look with 'esb audit find', or at http://127\.0\.0\.1:\d+/api/messages with the key in .*management\.key$"));
        Assert.That(_log.Lines, Does.Contain("stopped: what was under way is finished"));
    }

    [Test]
    public async Task Configuration_that_cannot_be_had_stops_what_started(CancellationToken cancellationToken)
    {
        var store = Substitute.For<IBusPart>();
        var reader = Substitute.For<IBusPart>();
        reader.Stage.Returns(BusStage.Inbound);
        reader.StartAsync(default).ReturnsForAnyArgs(Task.FromException(new ConfigurationRefusedException([new ConfigError("ESB-CFG-PORT", "listeners.public.url", null, "the port is in use")])));
        await using var services = await BuildAsync(store, reader);

        Assert.That(() => new EsbApplication(services).RunAsync(cancellationToken, cancellationToken), Throws.TypeOf<ConfigurationRefusedException>());

        await store.Received(1).StopAsync(Arg.Any<CancellationToken>());
    }

    private Task<ServiceProvider> BuildAsync(params IBusPart[] parts)
    {
        var path = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(path, $$"""
            {
              "name": "shop",
              "management": { "url": "http://127.0.0.1:{{RunningManagement.FreePort()}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "process": "receive-order" },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger" }
              },
              "processes": { "receive-order": [{ "log": "hello" }] }
            }
            """);
        var services = StandIns.Services();
        services.AddLogging(logging => logging.AddProvider(_log));
        foreach (var part in parts) services.AddSingleton(part);
        return BusServices.BuildAsync(path, new Dictionary<string, string>(), services);
    }
}

/// <summary>Keeps what is logged.</summary>
internal sealed class ListedLog : ILoggerProvider, ILogger
{
    private readonly List<string> _lines = [];

    /// <summary>Called with each line.</summary>
    public Action<string>? Heard { get; set; }

    public IReadOnlyList<string> Lines
    {
        get
        {
            lock (_lines) return [.. _lines];
        }
    }

    public ILogger CreateLogger(string categoryName) => this;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        var line = formatter(state, exception);
        lock (_lines) _lines.Add(line);
        Heard?.Invoke(line);
    }

    public void Dispose()
    {
    }
}
