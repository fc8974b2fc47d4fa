using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Receiving;
using NUnit.Framework;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class SeenDeliveriesTests
{
    private readonly SeenDeliveries _seen = new();

    [TestCase(0, 0), TestCase(1, 1), TestCase(3, 3)]
    public void Deliveries_elsewhere_count(int broker, int counted) => Assert.That(_seen.Came(Wire("a", broker)).Redeliveries, Is.EqualTo(counted));

    [Test]
    public void Deliveries_that_this_process_has_lived_through_do_not()
    {
        _seen.Came(Wire("a", 0));
        var again = _seen.Came(Wire("a", 1));
        var elsewhere = _seen.Came(Wire("a", 3)); // back from a host that died

        Assert.That((again.Redeliveries, elsewhere.Redeliveries), Is.EqualTo((0, 1)));
    }

    [Test]
    public void Message_that_was_settled_begins_anew()
    {
        _seen.Settled(_seen.Came(Wire("a", 0)));

        Assert.That(_seen.Came(Wire("a", 1)).Redeliveries, Is.EqualTo(1));
    }

    [Test]
    public void Message_without_an_id_counts_as_the_broker_says()
    {
        _seen.Came(Wire(null, 0));

        Assert.That(_seen.Came(Wire(null, 1)).Redeliveries, Is.EqualTo(1));
    }

    [Test]
    public void What_others_have_settled_does_not_fill_it()
    {
        _seen.Came(Wire("first", 0));
        for (var message = 0; message < 10_000; message++) _seen.Came(Wire($"{message}", 0));

        Assert.That(_seen.Came(Wire("first", 1)).Redeliveries, Is.EqualTo(1), "forgotten, and so counted");
    }

    private static WireMessage Wire(string? id, int deliveries)
    {
        var properties = new BasicProperties { MessageId = id, Headers = new Dictionary<string, object?> { ["x-delivery-count"] = (long)deliveries } };
        return new WireMessage("esb.topics.orders", "orders.new", properties, ReadOnlyMemory<byte>.Empty, IsRedelivered: deliveries > 0);
    }
}
