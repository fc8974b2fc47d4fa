using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Receiving;
using Esb.Topics.RabbitMq.Wire;
using NUnit.Framework;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class SeenDeliveriesTests
{
    private readonly SeenDeliveries _seen = new();
    private readonly string _id = Guid.NewGuid().ToString();
    private readonly DeliverySource _first = Channel(),
        _second = Channel(),
        _third = Channel();

    [TestCase(0), TestCase(1), TestCase(3)]
    public void Deliveries_elsewhere_count(int deliveries) => Assert.That(Came(_id, deliveries, _first), Is.EqualTo(deliveries));

    [Test]
    public void Deliveries_that_this_process_has_lived_through_do_not()
    {
        Came(_id, 0, _first);
        var again = Came(_id, 1, _second);
        var elsewhere = Came(_id, 3, _third); // back from a host that died

        Assert.That((again, elsewhere), Is.EqualTo((0, 1)));
    }

    [Test]
    public void Message_that_came_as_a_suspect_stays_one()
    {
        Came(_id, 1, _first); // before it, a process died

        Assert.That(
            (Came(_id, 2, _second), Came(_id, 1, _third)),
            Is.EqualTo((1, 1)),
            "a quorum queue, and a classic one, which counts no further"
        );
    }

    [Test]
    public void Copy_over_the_same_channel_takes_nothing_off()
    {
        Came(_id, 0, _first);
        Came(_id, 0, _first);

        Assert.That((Came(_id, 2, _second), Came(_id, 2, _second)), Is.EqualTo((1, 1)));
    }

    [Test]
    public void Message_that_was_settled_begins_anew()
    {
        Came(_id, 0, _first);
        _seen.Settled(Wire(_id, 0));

        Assert.That(Came(_id, 1, _second), Is.EqualTo(1));
    }

    [TestCase(null), TestCase("order 1")]
    public void Message_without_an_id_of_its_own_counts_as_the_broker_says(string? id)
    {
        Came(id, 0, _first);

        Assert.That(Came(id, 1, _second), Is.EqualTo(1));
    }

    [Test]
    public void What_others_have_settled_does_not_fill_it()
    {
        Came(_id, 0, _first);
        for (var message = 0; message < 10_000; message++)
            Came(Guid.NewGuid().ToString(), 0, _first);

        Assert.That(Came(_id, 1, _second), Is.EqualTo(1), "forgotten, and so counted");
    }

    private int Came(string? id, int deliveries, DeliverySource source) => _seen.Came(Wire(id, deliveries), source).Redeliveries;

    private static DeliverySource Channel() => new(0, Guid.NewGuid(), CancellationToken.None);

    private static WireMessage Wire(string? id, int deliveries)
    {
        var properties = new BasicProperties
        {
            MessageId = id,
            Headers = new Dictionary<string, object?> { ["x-delivery-count"] = (long)deliveries },
        };
        return new WireMessage("esb.topics.orders", "orders.new", properties, ReadOnlyMemory<byte>.Empty, IsRedelivered: deliveries > 0);
    }
}
