using Esb.Tests.Fakes;
using Esb.Topics;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Topics;

public sealed class UnroutableMessagesTests
{
    [Test]
    public void Each_subject_is_warned_about_once_a_minute()
    {
        var time = new ManualTime();
        var logger = Substitute.For<ILogger>();
        logger.IsEnabled(LogLevel.Warning).Returns(true);
        var unroutable = new UnroutableMessages(time, logger);

        for (var i = 0; i < 10; i++)
            unroutable.Count("orders.a");
        unroutable.Count("orders.b");
        time.Advance(TimeSpan.FromSeconds(61));
        unroutable.Count("orders.a");

        Assert.That(logger.ReceivedCalls().Count(call => call.GetMethodInfo().Name == nameof(ILogger.Log)), Is.EqualTo(3));
    }
}
