using System.Diagnostics.Metrics;

namespace Esb.Core.Diagnostics;

/// <summary>All names of our telemetry. Names follow the OpenTelemetry semantic conventions for messaging, version 1.44.0 (in development
/// there).</summary>
/// <remarks>See https://opentelemetry.io/docs/specs/semconv/messaging/. Names outside the conventions begin with <c>esb.</c>.</remarks>
public static class EsbTelemetry
{
    /// <summary>Sources of spans and meters: one of each per assembly that emits, named as the assembly.</summary>
    public static readonly IReadOnlyList<string> Sources =
    [
        "Esb.Core",
        "Esb.Topics",
        "Esb.Endpoints",
        "Esb.Workflows",
        "Esb.Audit",
        "Esb.Storage",
        "Esb.Host",
    ];

    /// <summary>The meter of this assembly.</summary>
    public static readonly Meter CoreMeter = new("Esb.Core");

    /// <summary>Bucket boundaries that the conventions advise for durations, in seconds.</summary>
    public static readonly IReadOnlyList<double> DurationBuckets =
    [
        0.005,
        0.01,
        0.025,
        0.05,
        0.075,
        0.1,
        0.25,
        0.5,
        0.75,
        1,
        2.5,
        5,
        7.5,
        10,
    ];

    /// <summary>Names of spans' and metrics' attributes.</summary>
    public static class Tags
    {
        /// <summary>A load that has marks.</summary>
        public const string Mark = "esb.mark";

        /// <summary>The messaging system: <c>rabbitmq</c> or <c>memory</c>.</summary>
        public const string System = "messaging.system";

        /// <summary><c>send</c>, <c>receive</c>, <c>process</c> or <c>settle</c>.</summary>
        public const string OperationType = "messaging.operation.type";

        /// <summary>The operation as the system names it.</summary>
        public const string OperationName = "messaging.operation.name";

        /// <summary>For RabbitMQ <c>exchange:routing-key</c>, followed by <c>:queue</c> on the consuming side.</summary>
        public const string Destination = "messaging.destination.name";

        /// <summary>The routing key.</summary>
        public const string RoutingKey = "messaging.rabbitmq.destination.routing_key";

        /// <summary>The message's id; on spans only.</summary>
        public const string MessageId = "messaging.message.id";

        /// <summary>The conversation; on spans only.</summary>
        public const string ConversationId = "messaging.message.conversation_id";

        /// <summary>Bytes of the body; on spans only.</summary>
        public const string BodySize = "messaging.message.body.size";

        /// <summary>The kind of error; our code if there is one.</summary>
        public const string ErrorType = "error.type";

        /// <summary>An endpoint of the configuration.</summary>
        public const string Endpoint = "esb.endpoint";

        /// <summary>A topic of the configuration.</summary>
        public const string Topic = "esb.topic";

        /// <summary>A process of the configuration.</summary>
        public const string Process = "esb.process";

        /// <summary>A database of the configuration.</summary>
        public const string Connection = "esb.connection";

        /// <summary>A workflow of the configuration.</summary>
        public const string Workflow = "esb.workflow";

        /// <summary>Kind of a timer.</summary>
        public const string TimerKind = "esb.timer.kind";

        /// <summary>State of an instance of a workflow.</summary>
        public const string State = "esb.workflow.state";

        /// <summary>A step of a process: its id, or its path.</summary>
        public const string Step = "esb.step";

        /// <summary>A pool: of an endpoint, or of a step.</summary>
        public const string Pool = "esb.pool";

        /// <summary>Number of the attempt; on spans only.</summary>
        public const string Attempt = "esb.attempt";

        /// <summary>A replay job; on spans only.</summary>
        public const string ReplayJob = "esb.replay.job";

        /// <summary>A listener of the configuration.</summary>
        public const string Listener = "esb.listener";

        /// <summary>A party of the configuration.</summary>
        public const string Party = "esb.party";

        /// <summary>Outcome, one of a fixed set of short texts.</summary>
        public const string Outcome = "esb.outcome";
    }

    /// <summary>Names of metrics.</summary>
    public static class Metrics
    {
        /// <summary>Histogram, s: publishing, until the confirmation.</summary>
        public const string OperationDuration = "messaging.client.operation.duration";

        /// <summary>Histogram, s: processing a delivered message.</summary>
        public const string ProcessDuration = "messaging.process.duration";

        /// <summary>Counter, {message}: published.</summary>
        public const string SentMessages = "messaging.client.sent.messages";

        /// <summary>Counter, {message}: delivered to an endpoint.</summary>
        public const string ConsumedMessages = "messaging.client.consumed.messages";

        /// <summary>Counter, {message}: received from external systems, by endpoint and outcome.</summary>
        public const string ReceivedMessages = "esb.message.received";

        /// <summary>Counter, {message}: sent to external systems, from a queue, by a call or by a relay; by endpoint, topic and
        /// party.</summary>
        public const string SentOutside = "esb.message.sent";

        /// <summary>Histogram, s: from the adapter's hand-over until confirmation of the first publish; by endpoint, topic and
        /// party.</summary>
        public const string InboundDuration = "esb.inbound.duration";

        /// <summary>Histogram, s: from receipt of a request by an endpoint until it has the answer; by endpoint, outcome and
        /// party.</summary>
        public const string RequestDuration = "esb.request.duration";

        /// <summary>Histogram, s: from taking a message from its queue until it is sent, including its attempts and waiting for an
        /// instance; by endpoint, topic and party.</summary>
        public const string OutboundDuration = "esb.outbound.duration";

        /// <summary>Histogram, s: one attempt inside an outbound adapter; by endpoint, topic, party and, if it failed, error.</summary>
        public const string AdapterDuration = "esb.adapter.duration";

        /// <summary>Counter, {request}: rejected by a listener, before an endpoint received them, by listener and code.</summary>
        public const string RefusedRequests = "esb.http.request.refused";

        /// <summary>Counter, {request}: requests of parties that an endpoint admitted, by endpoint and party.</summary>
        public const string PartyRequests = "esb.party.requests";

        /// <summary>Counter, {request}: rejected for lack of a credential or a permission, or by a rate limit, by endpoint, code and, if
        /// known, party.</summary>
        public const string DeniedRequests = "esb.http.request.denied";

        /// <summary>Counter, {message}: abandoned by delivery and stored as dead letters.</summary>
        public const string DeadLettered = "esb.message.dead_lettered";

        /// <summary>Counter, {message}: replies whose requester no longer waits.</summary>
        public const string ReplyAbandoned = "esb.message.reply_abandoned";

        /// <summary>Counter, {message}: abandoned by delivery, and waiting with the rest of their key for an operator.</summary>
        public const string Parked = "esb.message.parked";

        /// <summary>Counter, {message}: dead letters replayed, by endpoint.</summary>
        public const string Replayed = "esb.message.replayed";

        /// <summary>Gauge, {message}: dead letters waiting for an operator, by endpoint.</summary>
        public const string DeadLettersOpen = "esb.dead_letter.open";

        /// <summary>Gauge, s: time since the oldest of them was last tried, by endpoint.</summary>
        public const string DeadLetterAge = "esb.dead_letter.age";

        /// <summary>Gauge, {key}: keys with parked messages, by endpoint.</summary>
        public const string ParkedKeys = "esb.parked.keys";

        /// <summary>Gauge, s: time since the first of them was parked, by endpoint.</summary>
        public const string ParkedAge = "esb.parked.age";

        /// <summary>Counter, {message}: in flight when the host stopped, and completed or returned to their queue in time.</summary>
        public const string Drained = "esb.message.drained";

        /// <summary>Counter, {reload}: reloads of the configuration, by outcome.</summary>
        public const string Reloads = "esb.config.reloads";

        /// <summary>Counter, {message}: still in flight when the time to stop expired.</summary>
        public const string Abandoned = "esb.message.abandoned";

        /// <summary>Counter, {message}: recognised by an endpoint as duplicates, and not applied again.</summary>
        public const string Duplicates = "esb.message.duplicates";

        /// <summary>Gauge, {message}: published by transactions, and waiting in the outbox of a database.</summary>
        public const string OutboxLength = "esb.outbox.length";

        /// <summary>Gauge, s: time that the oldest of them has waited.</summary>
        public const string OutboxAge = "esb.outbox.age";

        /// <summary>Counter, {message}: published, but without a subscribing endpoint.</summary>
        public const string Unroutable = "esb.message.unroutable";

        /// <summary>Counter, {checkpoint}: checkpoints of instances, by workflow and the state after them.</summary>
        public const string WorkflowCheckpoints = "esb.workflow.checkpoints";

        /// <summary>Histogram, {checkpoint}: checkpoints stored in one commit.</summary>
        public const string WorkflowCommit = "esb.workflow.commit.checkpoints";

        /// <summary>Gauge, {instance}: instances that have not ended, of all hosts that share the store, by workflow and state.</summary>
        public const string WorkflowInstances = "esb.workflow.instances";

        /// <summary>Counter, {instance}: instances that started, by workflow.</summary>
        public const string WorkflowStarted = "esb.workflow.started";

        /// <summary>Counter, {instance}: instances that ended, by workflow and final state.</summary>
        public const string WorkflowEnded = "esb.workflow.ended";

        /// <summary>Counter, {instance}: instances that stopped for an operator, by workflow and state (<c>Suspended</c>,
        /// <c>CompensationFailed</c>).</summary>
        public const string WorkflowStopped = "esb.workflow.stopped";

        /// <summary>Histogram, s: time from the request of a checkpoint until it is stored, waiting for its group included.</summary>
        public const string WorkflowCheckpointDuration = "esb.workflow.checkpoint.duration";

        /// <summary>Histogram, s: how late timers of workflows and held messages are worked on, by their kind; by the clocks of store and
        /// host.</summary>
        public const string TimerLateness = "esb.timer.lateness";

        /// <summary>Counter, {message}: copies of wire taps that no topic accepted, by step and code.</summary>
        public const string LostCopies = "esb.message.lost_copies";

        /// <summary>Counter, {message}: received from external systems without an id, so that a duplicate cannot be recognised.</summary>
        public const string Unidentified = "esb.message.unidentified";

        /// <summary>Counter, {header}: headers from external systems with a reserved name.</summary>
        public const string ReservedHeaders = "esb.header.reserved";

        /// <summary>Counter, {message}: messages between hosts that no host of the farm has signed, or that came twice.</summary>
        public const string RefusedFarmMessages = "esb.farm.refused";

        /// <summary>Counter, {request}: requests to the management API that had no key, a wrong one, or one without the role, by
        /// code.</summary>
        public const string RefusedManagement = "esb.management.refused";

        /// <summary>Counter, {value}: header values from the broker that are nested too deeply to be read.</summary>
        public const string NestedHeaders = "esb.header.nested";

        /// <summary>Counter, {endpoint}: closed because opening their queue crashed the process, by endpoint.</summary>
        public const string Quarantined = "esb.endpoint.quarantined";

        /// <summary>Histogram, s: waiting for a free instance of a pool.</summary>
        public const string PoolWaitDuration = "esb.pool.wait.duration";

        /// <summary>Gauge, {instance}: instances of a pool that are rented, by pool.</summary>
        public const string PoolInUse = "esb.pool.in_use";

        /// <summary>Gauge, {instance}: instances of a pool that exist, by pool.</summary>
        public const string PoolCreated = "esb.pool.created";

        /// <summary>Gauge, {instance}: maximum instances of a pool, by pool.</summary>
        public const string PoolMaximum = "esb.pool.maximum";

        /// <summary>Counter, {wait}: callers that had to wait for an instance, by pool.</summary>
        public const string PoolWaits = "esb.pool.waits";

        /// <summary>Gauge: a load that has marks, by mark and endpoint.</summary>
        public const string MarkValue = "esb.mark.value";

        /// <summary>Gauge: 1 while a mark is crossed, by mark and endpoint.</summary>
        public const string MarkCrossed = "esb.mark.crossed";

        /// <summary>Counter: crossings of a high mark, by mark and endpoint.</summary>
        public const string MarkCrossings = "esb.mark.crossings";

        /// <summary>Gauge, {call}: calls in flight, by inbound endpoint.</summary>
        public const string CallsInUse = "esb.calls.in_use";

        /// <summary>Gauge, {call}: maximum concurrent calls of an inbound endpoint.</summary>
        public const string CallsMaximum = "esb.calls.maximum";

        /// <summary>Up-down counter, {fact}: audit facts waiting to be moved to their store.</summary>
        public const string AuditQueueLength = "esb.audit.queue.length";

        /// <summary>Gauge, s: age of the oldest of them; 0 if none waits.</summary>
        public const string AuditQueueAge = "esb.audit.queue.age";

        /// <summary>Counter, {fact}: audit facts rejected by their store permanently, and quarantined on this machine.</summary>
        public const string AuditRefused = "esb.audit.refused";

        /// <summary>Gauge, By: size of the audit spool on disk.</summary>
        public const string AuditSpoolSize = "esb.audit.spool.size";

        /// <summary>Gauge, By: maximum size of the audit spool on disk.</summary>
        public const string AuditSpoolLimit = "esb.audit.spool.limit";
    }
}
