using Esb.Core.Topics;
using Esb.Storage;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Receiving;
using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq;

/// <summary>What a lane does with its deliveries, without a broker.</summary>
internal static class LaneWork
{
    public static DeliveryWork Of(DeliveryHandler handler, TimeProvider time)
    {
        var names = new RabbitMqNames("esb");
        var nowhere = new BrokerConnection(new ConnectionFactory(), (_, _) => Task.CompletedTask, time, NullLogger.Instance);
        var claims = new BodyClaims(new NoClaimCheckStore(), long.MaxValue, new HashSet<string>(), time, NullLogger.Instance);
        var settler = new DeliverySettler(names, new ConfirmedPublisher(nowhere, time), claims, time, NullLogger.Instance);
        var subscription = new Subscription("orders-out", [], 1, 32, SingleActive: false, new QueueConfig(), []) { Lanes = 8 };
        return new DeliveryWork(subscription, handler, new WireReader(names, time), claims, settler, new SeenDeliveries(), long.MaxValue, time, NullLogger.Instance);
    }
}
