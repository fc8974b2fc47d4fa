using System.Net;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Host.Commands;
using Esb.Tests.Host.Management;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Host.Commands;

[CancelAfter(30_000)]
public sealed class CommandLineTests
{
    private DirectoryInfo _folder = null!;
    private StringWriter _output = null!;
    private StringWriter _error = null!;

    private string Output => _output.ToString();

    private string Error => _error.ToString();

    [SetUp]
    public void CreateFolder()
    {
        _folder = Directory.CreateTempSubdirectory("esb-");
        _output = new StringWriter();
        _error = new StringWriter();
    }

    [TearDown]
    public void DeleteFolder()
    {
        _folder.Delete(recursive: true);
        _output.Dispose();
        _error.Dispose();
    }

    [TestCase("vaildate", "validate"), TestCase("endpoints lst", "list"), TestCase("schema --hepl", "--help"), Property("Case", "CLI-01")]
    public async Task Unknown_word_ends_with_the_nearest_one_and_the_usage(string arguments, string meant)
    {
        var exitCode = await RunAsync(arguments.Split(' '));

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Error, Does.StartWith("ESB-CLI-USAGE").And.Contains($"did you mean \"{meant}\"?").And.Contains("Usage:"));
        Assert.That(Output, Is.Empty);
    }

    [TestCase("validate", "config"), TestCase("send orders.new", "--file"), TestCase("audit show", "id"), Property("Case", "CLI-02")]
    public async Task Missing_argument_is_named(string arguments, string missing)
    {
        var exitCode = await RunAsync(arguments.Split(' '));

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Error.Split('\n')[0], Does.Contain(missing));
    }

    [TestCase("send orders.new --file a.xml --content-type xml", "--content-type: expected a media type"), TestCase("dead-letters replay --all --command", "--command: expected one line")]
    public async Task Value_that_no_header_can_carry_is_refused(string arguments, string told)
    {
        string[] words = arguments.EndsWith("--command", StringComparison.Ordinal) ? [.. arguments.Split(' '), "two\nlines"] : arguments.Split(' ');

        var exitCode = await RunAsync(words);

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Error, Does.Contain(told));
    }

    [Test, Property("Case", "CLI-03")]
    public async Task Option_given_twice_is_refused() =>
        Assert.That(await RunAsync("send", "orders.new", "--file", "a", "--file", "b"), Is.EqualTo(2));

    [TestCase("--count 0"), TestCase("--batch 5000"), TestCase("--delay 5"), TestCase("--url nowhere"), TestCase("--count many")]
    public async Task Option_out_of_range_is_refused(string option) =>
        Assert.That(await RunAsync(["send", "orders.new", "--file", "a", .. option.Split(' ')]), Is.EqualTo(2));

    [Test, Property("Case", "CLI-04")]
    public async Task Configuration_that_does_not_exist_is_a_configuration_error()
    {
        var exitCode = await RunAsync("run", Path.Combine(_folder.FullName, "nowhere"));

        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That(Error, Does.StartWith("Configuration refused, 1 error; nothing was started.").And.Contains("ESB-CFG-NOTFOUND"));
    }

    [Test, Property("Case", "CLI-05")]
    public async Task Validate_reports_every_error_at_once()
    {
        var path = Write("""{ "telemetry": { "otlp": "nowhere" }, "management": { "url": "http://127.0.0.1:70000" } }""");

        var exitCode = await RunAsync("validate", path);

        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That(Error, Does.StartWith("Configuration refused, 2 errors; nothing was started.").And.Contains("ESB-CFG-PORT").And.Contains("telemetry.otlp"));
        Assert.That(Output, Is.Empty);
    }

    [Test, Property("Case", "CLI-05")]
    public async Task Validate_writes_errors_for_programs()
    {
        var path = Write("""{ "nmae": "x" }""");

        var exitCode = await RunAsync("validate", path, "--json");

        var result = JsonNode.Parse(Output)!;
        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That((bool?)result["valid"], Is.False);
        Assert.That((string?)result["errors"]![0]!["code"], Is.EqualTo("ESB-CFG-UNKNOWN"));
        Assert.That(Error, Is.Empty);
    }

    [Test]
    public async Task Validate_accepts_a_sound_configuration()
    {
        var exitCode = await RunAsync("validate", Write("""{ "name": "shop" }"""));

        Assert.That(exitCode, Is.Zero);
        Assert.That(Output, Does.Match("^shop, revision [0-9a-f]{12}: valid."));
    }

    [Test]
    public async Task Validate_tells_warnings_and_accepts_all_the_same()
    {
        var path = Write("""{ "name": "shop", "management": { "url": "http://0.0.0.0:8081" } }""");

        var forPeople = await RunAsync("validate", path);

        Assert.That(forPeople, Is.Zero);
        Assert.That(Output, Does.Match("^shop, revision [0-9a-f]{12}: valid, 1 warning.\n  ESB-CFG-EXPOSED management.url = \"http://0.0.0.0:8081\": the management API can be reached from other machines, without TLS \\(.*esb.json:1:"));
    }

    [Test]
    public async Task Validate_writes_warnings_for_programs()
    {
        var exitCode = await RunAsync("validate", Write("""{ "management": { "url": "http://[::]:8081" } }"""), "--json");

        var result = JsonNode.Parse(Output)!;
        Assert.That(exitCode, Is.Zero);
        Assert.That((bool?)result["valid"], Is.True);
        Assert.That((string?)result["warnings"]![0]!["code"], Is.EqualTo("ESB-CFG-EXPOSED"));
    }

    [Test]
    public async Task Explain_shows_compiled_processes_and_where_values_come_from()
    {
        var path = Write("""
            {
              "endpoints": { "shop": { "type": "http-inbound", "path": "/orders", "process": "receive-order" } },
              "processes": { "receive-order": [{ "log": "hello" }] }
            }
            """);

        var exitCode = await RunAsync("explain", path);

        Assert.That(exitCode, Is.Zero);
        Assert.That(Output, Does.Contain("shop: http-inbound, http://127.0.0.1:8080/orders → receive-order"));
        Assert.That(Output, Does.Contain("receive-order: log(hello)"));
        Assert.That(Output, Does.Match(@"endpoints\.shop\.path = ""/orders""  \(.*esb\.json:2:"));
        Assert.That(Output, Does.Contain("management.url = \"http://127.0.0.1:8081\"  (default)"));
    }

    [Test]
    public async Task Schema_is_a_json_schema_with_descriptions_and_defaults()
    {
        Assert.That(await RunAsync("schema"), Is.Zero);

        var schema = JsonNode.Parse(Output)!;
        Assert.That((string?)schema["$defs"]!["ManagementConfig"]!["properties"]!["url"]!["default"], Is.EqualTo("http://127.0.0.1:8081"));
    }

    [Test, Property("Case", "CLI-06")]
    public async Task Host_that_is_away_is_named()
    {
        var exitCode = await RunAsync("endpoints", "list", "--url", $"http://127.0.0.1:{FreePorts.Next()}");

        Assert.That(exitCode, Is.EqualTo(5));
        Assert.That(Error, Does.Match(@"^ESB-CLI-UNREACHABLE No host can be reached at 127\.0\.0\.1:\d+: nobody listens there\."));
    }

    [Test, Property("Case", "CLI-06")]
    public async Task Host_that_hangs_is_given_up_within_ten_seconds()
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        var started = TimeProvider.System.GetTimestamp();

        var exitCode = await RunAsync("endpoints", "list", "--url", $"http://{silent.LocalEndpoint}");

        Assert.That(exitCode, Is.EqualTo(5));
        Assert.That(TimeProvider.System.GetElapsedTime(started), Is.LessThan(TimeSpan.FromSeconds(10)));
    }

    [Test, Property("Case", "CLI-07")]
    public async Task Wrong_key_is_not_authorized(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);

        var exitCode = await RunWithAsync(new() { ["ESB_KEY"] = "wrong-key" }, "endpoints", "list", "--url", host.Server.Address.ToString());

        Assert.That(exitCode, Is.EqualTo(4));
        Assert.That(Error, Does.Contain("ESB_KEY").And.Not.Contain("wrong-key"));
    }

    [TestCase("--key", "s3cret"), TestCase("--password", "s3cret"), TestCase("--url", "http://me:s3cret@127.0.0.1:8081"), Property("Case", "CLI-11")]
    public async Task Secret_as_an_argument_is_refused(string option, string value)
    {
        var exitCode = await RunAsync("endpoints", "list", option, value);

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Error, Does.Contain("use the key file or the environment variable ESB_KEY").And.Not.Contain("s3cret"));
    }

    [TestCase("workflows list")]
    public async Task Command_that_is_not_built_yet_says_so(string arguments)
    {
        Assert.That(await RunAsync(arguments.Split(' ')), Is.EqualTo(2));
        Assert.That(Error, Does.StartWith("ESB-CLI-UNAVAILABLE"));
    }

    [Test]
    public async Task Endpoints_of_a_running_host_are_listed(CancellationToken cancellationToken)
    {
        var monitor = Substitute.For<IEndpointMonitor>();
        monitor.Endpoints.Returns([new EndpointStatus { Name = "ledger", Type = "file-outbound", State = EndpointState.Paused, Reason = "the disk is full", Messages = 1234567 }]);
        await using var host = await RunningManagement.StartAsync(cancellationToken, services => services.AddSingleton(monitor));

        var exitCode = await AskAsync(host, "endpoints", "list");

        Assert.That(exitCode, Is.Zero);
        Assert.That(Output, Does.Match(@"ledger +file-outbound +paused +1234567 .*the disk is full"));
    }

    [Test]
    public async Task Bulk_send_publishes_every_message(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var file = Path.Combine(_folder.FullName, "order.xml");
        await File.WriteAllTextAsync(file, "<order/>", cancellationToken);

        var exitCode = await AskAsync(host, "send", "orders.new", "--file", file, "--count", "701", "--batch", "300", "--delay", "1ms");

        Assert.That(exitCode, Is.Zero, Error);
        Assert.That(host.Publisher.Published, Has.Count.EqualTo(701));
        Assert.That(host.Publisher.Published[700].Message.ContentType, Is.EqualTo("application/xml"));
        Assert.That(Output, Does.Match(@"^701 messages sent to orders\.new in [0-9.]+ s \([0-9]+/s\); not durable"));
    }

    [Test]
    public async Task Send_to_no_topic_fails_with_the_code_of_the_host(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var file = Write("{}");

        Assert.That(await AskAsync(host, "send", "ordres.new", "--file", file), Is.EqualTo(2));
        Assert.That(Error, Does.Contain("ESB-API-NOTFOUND").And.Contains("did you mean \"orders\"?"));
    }

    [TestCase("nowhere.xml", "there is no such file"), TestCase("nowhere/at/all.xml", "there is no such file"), TestCase("", "is denied")]
    public async Task Send_of_a_file_that_cannot_be_read_sends_nothing(string file, string reason)
    {
        await using var host = await RunningManagement.StartAsync(default);

        Assert.That(await AskAsync(host, "send", "orders.new", "--file", Path.Combine(_folder.FullName, file)), Is.EqualTo(2));
        Assert.That(Error, Does.StartWith("ESB-CLI-FILE").And.Contains(reason));
        Assert.That(host.Publisher.Published, Is.Empty);
    }

    [TestCase(1_025), TestCase(5_000_000)]
    public async Task Send_of_more_than_a_message_may_hold_names_the_limit(int length)
    {
        await using var host = await RunningManagement.StartAsync(default);
        var file = Path.Combine(_folder.FullName, "large.bin");
        await File.WriteAllBytesAsync(file, new byte[length]);

        Assert.That(await AskAsync(host, "send", "orders.new", "--file", file), Is.EqualTo(2));
        Assert.That(Error, Is.EqualTo($"ESB-BODY-SIZE The body is larger than 1024 bytes, the limits.maxBodySize of the host.{Environment.NewLine}"));
    }

    [Test, Property("Case", "CLI-07")]
    public async Task Missing_key_file_is_named(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var file = Path.Combine(_folder.FullName, "nowhere.key");

        var exitCode = await RunAsync("endpoints", "list", "--url", host.Server.Address.ToString(), "--key-file", file);

        Assert.That(exitCode, Is.EqualTo(4));
        Assert.That(Error, Does.StartWith($"ESB-CLI-KEY There is no key: ESB_KEY is not set, and there is no file {file}."));
    }

    [Test]
    public async Task Id_that_is_none_is_told_without_words_of_the_framework()
    {
        Assert.That(await RunAsync("audit", "show", "nonsense"), Is.EqualTo(2));
        Assert.That(Error, Does.StartWith("ESB-CLI-USAGE 'nonsense' is no id of a message: expected a UUID").And.Not.Contain("Guid"));
    }

    [Test]
    public async Task Audit_is_searched_at_a_running_host(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var fact = new AuditFact
        {
            Id = Guid.CreateVersion7(),
            Kind = AuditKind.DeadLettered,
            Time = new DateTimeOffset(2026, 1, 31, 8, 0, 0, TimeSpan.Zero),
            MessageId = Guid.CreateVersion7(),
            ConversationId = Guid.CreateVersion7(),
            Endpoint = "ledger",
            Code = "ESB-FILE-FULL",
            Fields = new Dictionary<string, string> { ["total"] = "1.5" },
        };
        host.Store.Facts.Add(fact);

        Assert.That(await AskAsync(host, "audit", "find", "--where", "total=1.5", "--where", "a=b=c", "--limit", "7"), Is.Zero, Error);
        Assert.That(Output, Does.Match($"^2026-01-31 08:00:00.000.00:00 +dead-lettered +{fact.MessageId} +ledger +- +ESB-FILE-FULL total=1.5"));
        Assert.That(host.Store.Asked!.Where, Is.EqualTo(new Dictionary<string, string> { ["total"] = "1.5", ["a"] = "b=c" }));
        Assert.That(host.Store.Asked.Limit, Is.EqualTo(7));

        _output.GetStringBuilder().Clear();
        Assert.That(await AskAsync(host, "audit", "show", fact.MessageId.ToString(), "--json"), Is.Zero, Error);
        Assert.That((string?)JsonNode.Parse(Output)![0]!["code"], Is.EqualTo("ESB-FILE-FULL"));
    }

    [Test, Property("Case", "CLI-06")]
    public async Task Database_that_is_away_is_named_without_its_password()
    {
        var path = Write("""{ "store": { "type": "postgres", "connection": "Host=127.0.0.1;Port=1;Username=me;Password=${env:DB_PASSWORD}" } }""");

        var exitCode = await RunWithAsync(new() { ["DB_PASSWORD"] = "s3cret" }, "audit", "find", "--config", path);

        Assert.That(exitCode, Is.EqualTo(5));
        Assert.That(Error, Does.StartWith("ESB-STORE-AWAY").And.Contains("127.0.0.1:1").And.Not.Contain("s3cret"));
    }

    [Test]
    public async Task Audit_is_searched_in_the_store_of_a_configuration()
    {
        var path = Write($$"""{ "store": { "type": "file", "folder": "{{Path.Combine(_folder.FullName, "store")}}" } }""");

        Assert.That(await RunAsync("audit", "find", "--config", path), Is.Zero, Error);
        Assert.That(Error, Does.Contain("Nothing is recorded of that."));
        Assert.That(await RunAsync("audit", "show", Guid.NewGuid().ToString(), "--config", path), Is.EqualTo(2));
    }

    private Task<int> RunAsync(params string[] arguments) => RunWithAsync([], arguments);

    private Task<int> AskAsync(RunningManagement host, params string[] arguments) =>
        RunWithAsync(new() { ["ESB_KEY"] = host.Key }, [.. arguments, "--url", host.Server.Address.ToString()]);

    private Task<int> RunWithAsync(Dictionary<string, string> variables, params string[] arguments) =>
        EsbCommandLine.InvokeAsync(arguments, new CommandContext { Output = _output, Error = _error, Variables = variables, Services = StandIns.Services });

    private string Write(string configuration)
    {
        var path = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(path, configuration);
        return path;
    }
}
