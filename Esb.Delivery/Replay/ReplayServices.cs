using Esb.Core.Audit;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>The services that every run of a replay job uses.</summary>
internal sealed record ReplayServices(
    IReplayJobStore Jobs,
    IDeadLetterStore Letters,
    IEndpointQueues Queues,
    ReplayTargets Targets,
    IAuditTrail Audit,
    TimeProvider Time,
    ILoggerFactory Loggers
);
