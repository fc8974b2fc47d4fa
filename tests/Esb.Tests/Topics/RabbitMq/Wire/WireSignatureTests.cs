using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq.Wire;

/// <summary>Which messages past the topics are believed to be of a host.</summary>
public sealed class WireSignatureTests
{
    private static readonly RabbitMqNames Names = new("esb", "tests");
    private static readonly FarmKeys Keys = new(new FarmConfig { Key = "the key" }, () => null);

    [TestCase("esb", false, DeliveryKind.Replay, Description = "the broker vouches for our own user, as of hosts of the version before")]
    [TestCase("partner", true, DeliveryKind.Replay, Description = "another host of the farm, with a user of its own")]
    [TestCase(null, true, DeliveryKind.Replay, Description = "a broker that knows hosts by other names")]
    [TestCase("partner", false, DeliveryKind.Published)]
    [TestCase(null, false, DeliveryKind.Published)]
    public void A_kind_is_believed_of_hosts_alone(string? userId, bool isSigned, DeliveryKind expected)
    {
        var wire = Direct(userId, isSigned ? Keys : FarmKeys.None);

        var read = Reader(Keys).Read(wire, "orders-out");

        Assert.That(Reader(Keys).KindOf(wire, "orders-out"), Is.EqualTo(expected));
        Assert.That(
            (read.Attempt, read.Subject),
            Is.EqualTo(expected == DeliveryKind.Replay ? (3, "orders.accepted") : (0, wire.RoutingKey))
        );
        Assert.That(read.Party, Is.EqualTo(expected == DeliveryKind.Replay ? "bank" : userId));
    }

    [Test]
    public void A_signature_is_of_one_message_alone()
    {
        var wire = Direct(userId: null, Keys);
        var headers = wire.Properties.Headers!;
        WireMessage[] forged =
        [
            wire with
            {
                Body = "other"u8.ToArray(),
            },
            wire with
            {
                Properties = Copy(wire, new(headers) { [WireHeaders.Party] = "other" }),
            },
            wire with
            {
                Properties = Copy(wire, new(headers) { [EsbHeaders.Attempt] = 4 }),
            },
            wire with
            {
                Properties = Copy(wire, new(headers) { [WireHeaders.Subject] = "orders.other" }),
            },
            wire with
            {
                Properties = Copy(wire, new(headers) { [WireHeaders.Kind] = "release" }),
            },
        ];

        Assert.That(forged.Select(one => Reader(Keys).KindOf(one, "orders-out")), Is.All.EqualTo(DeliveryKind.Published));
        Assert.That(Reader(Keys).KindOf(wire, "orders-out"), Is.EqualTo(DeliveryKind.Replay));
    }

    [Test]
    public void A_message_of_release_0_1_is_believed_in_its_own_queue_alone()
    {
        var wire = Direct(userId: null, FarmKeys.None);

        Assert.That(
            Reader(Keys).KindOf(wire with { RoutingKey = Names.Old("orders-out").Queue }, "orders-out"),
            Is.EqualTo(DeliveryKind.Replay)
        );
        Assert.That(
            Reader(Keys)
                .KindOf(
                    wire with
                    {
                        RoutingKey = Names.Old("orders-out").Queue,
                        Properties = Copy(wire, new(wire.Properties.Headers!), "partner"),
                    },
                    "orders-out"
                ),
            Is.EqualTo(DeliveryKind.Published)
        );
    }

    private static WireReader Reader(FarmKeys keys) => new(Names, new WireSignature(keys, User()), new ManualTime());

    private static BrokerUser User() => new("esb", NullLogger.Instance);

    private static WireMessage Direct(string? userId, FarmKeys keys)
    {
        var message = Some.Message("body") with { Subject = "orders.accepted", Party = "bank", Attempt = 3 };
        var properties = WireWriter.Direct(message, DeliveryKind.Replay, default);
        if (userId is not null)
            properties.UserId = userId;
        var body = "body"u8.ToArray();
        return new WireMessage(
            "",
            Names.New("orders-out").Queue,
            new WireSignature(keys, User()).Sign(properties, body),
            body,
            IsRedelivered: false
        );
    }

    private static BasicProperties Copy(WireMessage wire, Dictionary<string, object?> headers, string? userId = null)
    {
        var properties = new BasicProperties(wire.Properties) { Headers = headers };
        if (userId is not null)
            properties.UserId = userId;
        return properties;
    }
}
