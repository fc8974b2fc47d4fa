using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Services that the receivers of a transport share.</summary>
internal sealed record ReceiverContext(
    RabbitMqNames Names,
    BrokerConnection Connection,
    EndpointSetup Setup,
    BrokerFarm Farm,
    FreezeWatch Freezes,
    TimeProvider Time,
    ILogger Logger
);
