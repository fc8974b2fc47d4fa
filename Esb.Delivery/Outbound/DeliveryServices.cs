using Esb.Core.Alerts;
using Esb.Core.Audit;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Crashes;
using Esb.Delivery.Failures;
using Esb.Delivery.SingleInstance;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>The services that the delivery controllers of a host share.</summary>
internal sealed record DeliveryServices(
    ITopicTransport Transport,
    IEndpointQueues Queues,
    IAuditTrail Audit,
    IAuditGate AuditGate,
    IParkingStore Parking,
    IAttemptStore Attempts,
    DeadLetterKeeper DeadLetters,
    Suspects Suspects,
    CrashQuarantine Quarantine,
    SingleInstances Singles,
    TimeProvider Time,
    ILoggerFactory Loggers,
    IAlerts? Alerts = null
);
