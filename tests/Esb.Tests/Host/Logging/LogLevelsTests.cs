using Esb.Host.Logging;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NUnit.Framework;

namespace Esb.Tests.Host.Logging;

public sealed class LogLevelsTests
{
    private readonly ManualTime _time = new();
    private ServiceProvider _services = null!;
    private ILogger _topics = null!;

    private LogLevels Levels => _services.GetRequiredService<LogLevels>();

    [SetUp]
    public void Build()
    {
        _services = new ServiceCollection().AddSingleton<TimeProvider>(_time).AddEsbLogging(LogLevel.Information).BuildServiceProvider();
        _topics = _services.GetRequiredService<ILoggerFactory>().CreateLogger("Esb.Topics.RabbitMq.Sender");
    }

    [TearDown]
    public void Dispose() => _services.Dispose();

    [Test]
    public void Loggers_that_exist_follow_a_change_and_go_back()
    {
        Levels.Change(Of("Esb.Topics", LogLevel.Debug), duration: null);
        var after = _topics.IsEnabled(LogLevel.Debug);
        Levels.Change(Of("Esb.Topics", null), duration: null);

        Assert.That((after, _topics.IsEnabled(LogLevel.Debug), _topics.IsEnabled(LogLevel.Information)), Is.EqualTo((true, false, true)));
    }

    [Test]
    public void Others_do_not_follow()
    {
        Levels.Change(Of("Esb.Topics", LogLevel.Debug), duration: null);

        Assert.That(_services.GetRequiredService<ILoggerFactory>().CreateLogger("Esb.Endpoints.Http").IsEnabled(LogLevel.Debug), Is.False);
    }

    [Test]
    public void Change_for_a_time_falls_back_by_itself()
    {
        Levels.Change(Of("Esb.Topics", LogLevel.Trace), TimeSpan.FromMinutes(10));
        Levels.Change(Of(LogCategories.Default, LogLevel.Error), TimeSpan.FromMinutes(20));

        _time.Advance(TimeSpan.FromMinutes(9));
        var before = _topics.IsEnabled(LogLevel.Trace);
        _time.Advance(TimeSpan.FromMinutes(2));
        var between = (_topics.IsEnabled(LogLevel.Warning), _topics.IsEnabled(LogLevel.Error));
        _time.Advance(TimeSpan.FromMinutes(10));

        Assert.That((before, between, _topics.IsEnabled(LogLevel.Information)), Is.EqualTo((true, (false, true), true)));
        Assert.That(Levels.Changed, Is.Empty);
    }

    [Test]
    public void Library_can_be_asked_for_more_by_its_name()
    {
        var npgsql = _services.GetRequiredService<ILoggerFactory>().CreateLogger("Npgsql.Command");

        Levels.Change(Of("npgsql", LogLevel.Debug), duration: null);

        Assert.That(npgsql.IsEnabled(LogLevel.Debug), Is.True);
    }

    [
        TestCase("topics", "Esb.Topics"),
        TestCase("Endpoints", "Esb.Endpoints"),
        TestCase("DEFAULT", "default"),
        TestCase("Esb.Host.Logging", "Esb.Host.Logging"),
        TestCase("Esb.Host.Logging.LogLevels", "Esb.Host.Logging.LogLevels"),
        TestCase("microsoft.extensions.logging", "microsoft.extensions.logging")
    ]
    public void Category_is_known(string name, string category) => Assert.That(LogCategories.Resolve(name, out _), Is.EqualTo(category));

    [TestCase("Esb.Core.Configuration", "Esb.Configuration.LiveSettings"), TestCase("Esb.Configuration", "Esb.Configuration.LiveSettings")]
    [TestCase("endpoints", "Esb.Delivery.Attempts.Attempter"), TestCase("Esb.Endpoints.Delivery", "Esb.Delivery.Attempts.Attempter")]
    [TestCase("Esb.Endpoints.Intake", "Esb.Delivery.Intake.MessageIntake"), TestCase("Esb.Delivery", "Esb.Delivery.Attempts.Attempter")]
    public void Category_outlives_the_move_of_its_types(string name, string type)
    {
        var logger = _services.GetRequiredService<ILoggerFactory>().CreateLogger(type);

        Levels.Change(Of(LogCategories.Resolve(name, out _)!, LogLevel.Debug), duration: null);

        Assert.That(logger.IsEnabled(LogLevel.Debug), Is.True);
    }

    [TestCase("topcs"), TestCase("Esb.Nothing"), TestCase("Esb.Host.Log"), TestCase(""), TestCase("Esb")]
    public void Category_that_nothing_logs_in_is_refused(string name)
    {
        Assert.That(LogCategories.Resolve(name, out var expected), Is.Null);
        Assert.That(expected, Does.Contain("topics"));
    }

    private static Dictionary<string, LogLevel?> Of(string category, LogLevel? level) => new() { [category] = level };
}
