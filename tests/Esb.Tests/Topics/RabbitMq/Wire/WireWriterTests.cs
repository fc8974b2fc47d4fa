using Esb.Tests.Fakes;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Topics.RabbitMq.Wire;

/// <summary>What stands on a message on the wire.</summary>
public sealed class WireWriterTests
{
    private readonly ManualTime _time = new();

    [Test]
    public void Time_of_a_request_begins_when_it_is_asked_and_not_when_its_message_entered_the_bus()
    {
        var message = Some.Message() with { CreatedAt = _time.GetUtcNow().AddSeconds(-3) };

        var properties = WireWriter.Request(message, isPersistent: false, "replies", TimeSpan.FromSeconds(5), _time.GetUtcNow());

        var wire = new WireMessage("", "orders.get", properties, ReadOnlyMemory<byte>.Empty, IsRedelivered: false);
        Assert.That(
            new WireReader(
                new RabbitMqNames("esb", "tests"),
                new WireSignature(FarmKeys.None, new BrokerUser("esb", NullLogger.Instance)),
                _time
            ).ExpiryOf(wire),
            Is.EqualTo(_time.GetUtcNow().AddSeconds(5))
        );
    }
}
