using System.Net;
using System.Net.Sockets;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Listening;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Host.Management;
using Esb.Tests.Host.Management;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Host.Lifecycle;

[CancelAfter(30_000)]
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
            if (line.Contains("is running", StringComparison.Ordinal))
                stop.Cancel();
        };
        await using var services = Build();

        var outcome = await new EsbApplication(services).RunAsync(stop.Token, cancellationToken);

        Assert.That(outcome.IsClean, Is.True);
        Assert.That(_log.Lines, Does.Contain("transport memory: what is accepted dies with this process"));
        Assert.That(_log.Lines, Does.Contain("process receive-order: log(hello)"));
        Assert.That(_log.Lines, Does.Contain("endpoint shop: http-inbound, http://127.0.0.1:8080/orders → receive-order"));
        Assert.That(
            _log.Lines,
            Does.Contain(
                $"endpoint ledger: file-outbound, orders.# → {Path.Combine(_folder.FullName, "ledger")}; 1 instance, 1 at once, parallel"
            )
        );
        Assert.That(_log.Lines, Does.Contain("send to http://127.0.0.1:8080/orders (shop)"));
        Assert.That(
            _log.Lines,
            Has.Some.Match(@"^look with 'esb audit find', or at http://127\.0\.0\.1:\d+/api/messages with the key in .*management\.key$")
        );
        Assert.That(_log.Lines, Does.Contain("stopped: what was under way is finished"));
    }

    [Test]
    public async Task Host_that_is_told_to_stop_while_it_starts_stops_cleanly(CancellationToken cancellationToken)
    {
        using var stop = new CancellationTokenSource();
        await using var services = Build();
        await stop.CancelAsync();

        var outcome = await new EsbApplication(services).RunAsync(stop.Token, cancellationToken);

        Assert.That(outcome.IsClean, Is.True);
        Assert.That(_log.Lines, Does.Contain("stopped: what was under way is finished").And.None.Contains("is running"));
    }

    [Test]
    public async Task Configuration_that_cannot_be_had_stops_what_started(CancellationToken cancellationToken)
    {
        var store = Substitute.For<IBusPart>();
        var reader = Substitute.For<IBusPart>();
        reader.Stage.Returns(BusStage.Inbound);
        reader
            .StartAsync(default)
            .ReturnsForAnyArgs(
                Task.FromException(
                    new ConfigurationRefusedException([new ConfigError("ESB-CFG-PORT", "listeners.public.url", null, "the port is in use")])
                )
            );
        await using var services = Build(store, reader);

        Assert.That(
            () => new EsbApplication(services).RunAsync(cancellationToken, cancellationToken),
            Throws.TypeOf<ConfigurationRefusedException>()
        );

        await store.Received(1).StopAsync(Arg.Any<CancellationToken>());
    }

    [Test, Property("Case", "CFG-30")]
    public async Task Ports_in_use_are_all_told_in_one_line_each_before_anything_starts(CancellationToken cancellationToken)
    {
        using var first = Occupied();
        using var second = Occupied();
        var store = Substitute.For<IBusPart>();
        await using var services = Build(PortOf(first), store);
        var elsewhere = new ListeningPlace(
            "the listener 'elsewhere'",
            new ManagementConfig(),
            "url",
            $"http://127.0.0.1:{PortOf(second)}",
            IsOpened: true
        );
        var closed = elsewhere with { IsOpened = false };

        var refusal = Assert.ThrowsAsync<ConfigurationRefusedException>(() =>
            new EsbApplication(services).RunAsync(cancellationToken, cancellationToken)
        );
        var both = Assert.Throws<ConfigurationRefusedException>(() =>
            PortProbe.RequireFree([
                .. services.GetRequiredService<Live<ListeningPlaces>>().Current.All.Where(place => place.Settings is ManagementConfig),
                elsewhere,
                closed,
            ])
        );

        Assert.That(
            refusal!.Errors.Single().ToString(),
            Does.StartWith($"ESB-CFG-PORT management.url = \"http://127.0.0.1:{PortOf(first)}\": the port {PortOf(first)} is in use (")
        );
        Assert.That(
            both!.Errors.Select(error => error.Expected),
            Is.EqualTo([$"the port {PortOf(first)} is in use", $"the port {PortOf(second)} is in use"])
        );
        Assert.That(_log.Lines, Has.None.Contains("Hosting failed"));
        await store.DidNotReceive().StartAsync(Arg.Any<CancellationToken>());
    }

    [Test]
    public async Task Warnings_are_told_at_every_start(CancellationToken cancellationToken)
    {
        using var stop = new CancellationTokenSource();
        _log.Heard = line =>
        {
            if (line.Contains("is running", StringComparison.Ordinal))
                stop.Cancel();
        };
        await using var services = Build($"http://0.0.0.0:{FreePorts.Next()}");

        await new EsbApplication(services).RunAsync(stop.Token, cancellationToken);

        Assert.That(_log.Lines, Has.One.Match("^ESB-CFG-EXPOSED management.url = .* can be reached from other machines"));
    }

    [Test]
    public void Address_of_another_machine_cannot_be_listened_at()
    {
        var place = new ListeningPlace("the listener 'a'", new ManagementConfig(), "url", "http://192.0.2.1:8080", IsOpened: true);

        Assert.That(
            () => PortProbe.RequireFree([place]),
            Throws.TypeOf<ConfigurationRefusedException>().With.Message.Contains("192.0.2.1 is no address of this machine")
        );
    }

    private static TcpListener Occupied()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return listener;
    }

    private static int PortOf(TcpListener listener) => ((IPEndPoint)listener.LocalEndpoint).Port;

    private ServiceProvider Build(params IBusPart[] parts) => Build(FreePorts.Next(), parts);

    private ServiceProvider Build(int managementPort, params IBusPart[] parts) => Build($"http://127.0.0.1:{managementPort}", parts);

    private ServiceProvider Build(string management, params IBusPart[] parts)
    {
        var path = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(
            path,
            $$"""
            {
              "name": "shop",
              "management": { "url": "{{management}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "process": "receive-order" },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger" }
              },
              "processes": { "receive-order": [{ "log": "hello" }] }
            }
            """
        );
        var services = StandIns.Services();
        services.AddLogging(logging => logging.AddProvider(_log));
        foreach (var part in parts)
            services.AddSingleton(part);
        return BusServices.Build(path, new Dictionary<string, string>(), services);
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
            lock (_lines)
                return [.. _lines];
        }
    }

    public ILogger CreateLogger(string categoryName) => this;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    )
    {
        var line = formatter(state, exception);
        lock (_lines)
            _lines.Add(line);
        Heard?.Invoke(line);
    }

    public void Dispose() { }
}
