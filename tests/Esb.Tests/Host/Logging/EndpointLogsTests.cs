using System.Text.RegularExpressions;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Host.Logging;
using Esb.Host.Telemetry;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using NUnit.Framework;

namespace Esb.Tests.Host.Logging;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed partial class EndpointLogsTests
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-logs-");
    private readonly StringWriter _complaints = new();
    private EndpointLogs _logs = null!;
    private ILogger _logger = null!;

    [SetUp]
    public void Open()
    {
        _logs = new EndpointLogs(
            new LogPlace(_folder.FullName, 1_000_000, ["shop", "orders-db"]),
            showsStacks: false,
            new ManualTime(),
            _complaints
        );
        _logger = _logs.CreateLogger("Esb.Endpoints.Http.HttpListener");
    }

    [TearDown]
    public void Delete()
    {
        _logs.Dispose();
        _complaints.Dispose();
        if (_folder.Exists)
            _folder.Delete(recursive: true);
    }

    [Test]
    public void Each_endpoint_has_a_file_and_the_rest_another()
    {
        LogRefused("shop", 1);
        LogRefused("orders-db", 2);
        LogRefused("of-another-host", 3);
        LogStarted();

        Assert.That(Read("shop"), Does.Contain("shop refused 1").And.Not.Contain("refused 2"));
        Assert.That(Read("orders-db"), Does.Contain("orders-db refused 2").And.Not.Contain("refused 1"));
        Assert.That(Read("host"), Does.Contain("of-another-host refused 3").And.Contain("started"));
        Assert.That(_folder.GetFiles(), Has.Length.EqualTo(3));
    }

    [Test]
    public void Line_says_time_thread_level_and_project()
    {
        LogRefused("shop", 1);

        Assert.That(
            Read("shop"),
            Does.Match(
                $@"^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{3}} \[{Environment.CurrentManagedThreadId}\] warn  endpoints shop refused 1\r?\n$"
            )
        );
    }

    [Test]
    public void Text_from_outside_cannot_write_lines()
    {
        LogRefused("shop", 1, new EsbException("ESB-X", "what\r\n2026-01-31 all is well", FaultKind.Internal));

        Assert.That(Lines().Count(Read("shop")), Is.EqualTo(1));
        Assert.That(Read("shop"), Does.Contain("shop refused 1: ESB-X what  2026-01-31"));
    }

    [Test]
    public void What_cannot_be_written_is_said_once_and_stops_nobody()
    {
        LogRefused("shop", 1);
        Directory.CreateDirectory(Path.Combine(_folder.FullName, "orders-db.log")); // in the way
        LogRefused("orders-db", 2);
        LogRefused("orders-db", 3);
        var before = Lines().Count(_complaints.ToString());
        LogRefused("shop", 4);
        LogRefused("orders-db", 5);

        Assert.That((before, Lines().Count(_complaints.ToString())), Is.EqualTo((1, 1)), "once, although another file can be written");
        Assert.That(_complaints.ToString(), Does.StartWith("ESB-LOG-FILE: the log cannot be written to orders-db.log: "));
        Assert.That(Read("shop"), Does.Contain("refused 4"));
    }

    [Test]
    public void Folder_is_made_and_one_that_cannot_be_is_an_error_with_its_place()
    {
        var made = Path.Combine(_folder.FullName, "a", "b");
        var errors = new ConfigErrors();
        EndpointLogs.CheckFolder(new TelemetryConfig { LogFolder = made }, errors);
        Assert.That(errors.Any, Is.False);
        var file = Path.Combine(_folder.FullName, "file");
        File.WriteAllText(file, "");

        EndpointLogs.CheckFolder(new TelemetryConfig { LogFolder = file }, errors);

        Assert.That(Directory.Exists(made), Is.True);
        Assert.That(errors.All.Single().Code, Is.EqualTo("ESB-CFG-FOLDER"));
    }

    private string Read(string name)
    {
        using var stream = new FileStream(
            Path.Combine(_folder.FullName, $"{name}.log"),
            FileMode.Open,
            FileAccess.Read,
            FileShare.ReadWrite
        );
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }

    [GeneratedRegex("\n")]
    private static partial Regex Lines();

    private void LogRefused(string endpoint, int number, Exception? exception = null) => LogRefused(_logger, endpoint, number, exception);

    private void LogStarted() => LogStarted(_logger);

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Endpoint} refused {Number}")]
    private static partial void LogRefused(ILogger logger, string endpoint, int number, Exception? exception);

    [LoggerMessage(Level = LogLevel.Information, Message = "started")]
    private static partial void LogStarted(ILogger logger);
}
