using Esb.Core.Audit;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Endpoints.SingleInstance;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>What the delivery controllers of a host share.</summary>
internal sealed record DeliveryServices(
    ITopicTransport Transport,
    IEndpointQueues Queues,
    IAuditTrail Audit,
    IAuditGate AuditGate,
    IParkingStore Parking,
    IAttemptStore Attempts,
    DeadLetterKeeper DeadLetters,
    Suspects Suspects,
    SingleInstances Singles,
    TimeProvider Time,
    ILoggerFactory Loggers);
