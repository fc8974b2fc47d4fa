using Esb.Host.Logging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NUnit.Framework;

namespace Esb.Tests.Host.Logging;

public sealed class LoggingRegistrationTests
{
    [
        TestCase(LogLevel.Information, "Esb.Topics.X", LogLevel.Information),
        TestCase(LogLevel.Error, "Esb.Topics.X", LogLevel.Error),
        TestCase(LogLevel.Debug, "Esb.Topics.X", LogLevel.Debug)
    ]
    [
        TestCase(LogLevel.Information, "MassTransit", LogLevel.Warning),
        TestCase(LogLevel.Debug, "Microsoft.AspNetCore.X", LogLevel.Warning),
        TestCase(LogLevel.Error, "MassTransit", LogLevel.Error),
        TestCase(LogLevel.Trace, "MassTransit", LogLevel.Trace)
    ]
    public void Nothing_below_the_level_is_logged_and_of_libraries_only_warnings(LogLevel configured, string category, LogLevel least)
    {
        using var services = new ServiceCollection().AddEsbLogging(configured).BuildServiceProvider();
        var logger = services.GetRequiredService<ILoggerFactory>().CreateLogger(category);

        Assert.That(logger.IsEnabled(least), Is.True);
        Assert.That(least > LogLevel.Trace && logger.IsEnabled(least - 1), Is.False);
    }

    [Test]
    public void Web_server_that_did_not_start_is_not_reported_twice()
    {
        using var services = new ServiceCollection().AddEsbLogging(LogLevel.Information).BuildServiceProvider();

        Assert.That(
            services
                .GetRequiredService<ILoggerFactory>()
                .CreateLogger("Microsoft.Extensions.Hosting.Internal.Host")
                .IsEnabled(LogLevel.Error),
            Is.False
        );
    }
}
