using Esb.Tests.Fakes;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq.Wire;

/// <summary>When a requester stops waiting, by what stands on its request.</summary>
public sealed class WireReaderTests
{
    private readonly ManualTime _time = new();

    [TestCase(-10, 51, Description = "a second later than it says, as the wire has no parts of one")]
    [TestCase(0, 60)]
    [TestCase(-60, 1)]
    [TestCase(-61, 60, Description = "the clock of the requester is behind: the broker delivers nothing whose time is over")]
    [TestCase(3600, 60, Description = "the clock of the requester is ahead")]
    public void Request_expires_after_its_publication(int publishedAfterNow, int expected)
    {
        var published = (_time.GetUtcNow() + TimeSpan.FromSeconds(publishedAfterNow)).ToUnixTimeSeconds();

        Assert.That(
            ExpiryOf(published),
            Is.EqualTo(DateTimeOffset.FromUnixTimeSeconds(_time.GetUtcNow().ToUnixTimeSeconds()).AddSeconds(expected))
                .Within(TimeSpan.FromSeconds(1))
        );
    }

    [TestCase(253402300799L), TestCase(253402300790L), TestCase(253402300800L), TestCase(long.MaxValue)]
    public void Request_from_the_end_of_the_calendar_can_be_read(long published) =>
        Assert.That(ExpiryOf(published), Is.EqualTo(_time.GetUtcNow() + TimeSpan.FromSeconds(60)));

    [TestCase(-70, Description = "by the clock of the requester")]
    [TestCase(3600, Description = "by ours, as that of the requester is ahead")]
    public void Time_of_a_request_goes_on_while_it_waits_here(int publishedAfterNow)
    {
        var published = (_time.GetUtcNow() + TimeSpan.FromSeconds(publishedAfterNow)).ToUnixTimeSeconds();

        Assert.That(ExpiryOf(published, arrived: _time.GetUtcNow().AddSeconds(-65)), Is.LessThan(_time.GetUtcNow()));
    }

    [Test]
    public void Time_of_a_request_does_not_begin_anew_where_it_was_moved_between_queues()
    {
        var published = _time.GetUtcNow().AddSeconds(-90).ToUnixTimeSeconds();

        Assert.That(
            ExpiryOf(published, headers: new Dictionary<string, object?> { [WireHeaders.Kind] = "moved" }),
            Is.LessThan(_time.GetUtcNow())
        );
    }

    private DateTimeOffset? ExpiryOf(long published, DateTimeOffset? arrived = null, Dictionary<string, object?>? headers = null)
    {
        var properties = new BasicProperties
        {
            ReplyTo = "replies",
            Expiration = "60000",
            Timestamp = new AmqpTimestamp(published),
            Headers = headers,
        };
        var wire = new WireMessage("", "orders.get", properties, ReadOnlyMemory<byte>.Empty, IsRedelivered: false) { ArrivedAt = arrived };
        return new WireReader(
            new RabbitMqNames("esb", "tests"),
            new WireSignature(FarmKeys.None, new BrokerUser("esb", NullLogger.Instance)),
            _time
        ).ExpiryOf(wire);
    }
}
