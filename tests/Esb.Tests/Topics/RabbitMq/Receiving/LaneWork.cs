using Esb.Configuration;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Topics.ClaimChecks;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Receiving;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

/// <summary>What a lane does with its deliveries, without a broker.</summary>
internal static class LaneWork
{
    public static DeliveryWork Of(DeliveryHandler handler, TimeProvider time)
    {
        var names = new RabbitMqNames("esb", "tests");
        var user = new BrokerUser("esb", NullLogger.Instance);
        var nowhere = new BrokerConnection(new ConnectionFactory(), (_, _) => Task.CompletedTask, time, NullLogger.Instance);
        var claims = new BodyClaims(new NoClaimCheckStore(), new LimitsConfig(), static _ => false, time, NullLogger.Instance);
        var settler = new DeliverySettler(
            names,
            new ConfirmedPublisher(nowhere, user, new WireSignature(FarmKeys.None, user), time),
            claims,
            time,
            NullLogger.Instance
        );
        var subscription = new Subscription("orders-out", [], 1, 32, SingleActive: false, new QueueConfig(), []) { Lanes = 8 };
        return new DeliveryWork(
            subscription,
            handler,
            new WireReader(names, new WireSignature(FarmKeys.None, user), time),
            claims,
            settler,
            new SeenDeliveries(),
            new LimitsConfig(),
            time,
            NullLogger.Instance
        );
    }
}
