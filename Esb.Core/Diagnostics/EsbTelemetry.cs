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

        /// <summary>Outcome of a reload: <c>done</c>, <c>unchanged</c> or <c>refused</c>.</summary>
        public const string ReloadOutcome = "outcome";
    }

    /// <summary>Names of metrics. What each is stands in its attribute, which makes the instrument and the reference.</summary>
#pragma warning disable CS1591 // the attribute is the documentation
    public static class Metrics
    {
        [Metric(
            MetricKind.Histogram,
            "s",
            "Publishing, until the confirmation.",
            Tags.System,
            Tags.OperationName,
            Tags.OperationType,
            Tags.Destination,
            Tags.ErrorType
        )]
        public const string OperationDuration = "messaging.client.operation.duration";

        [Metric(
            MetricKind.Counter,
            "{message}",
            "Messages published.",
            Tags.System,
            Tags.OperationName,
            Tags.OperationType,
            Tags.Destination,
            Tags.ErrorType
        )]
        public const string SentMessages = "messaging.client.sent.messages";

        [Metric(MetricKind.Counter, "{message}", "Messages delivered to an endpoint.", Tags.System, Tags.OperationName, Tags.Endpoint)]
        public const string ConsumedMessages = "messaging.client.consumed.messages";

        [Metric(
            MetricKind.Histogram,
            "s",
            "Processing of a delivered message.",
            Tags.System,
            Tags.OperationName,
            Tags.Endpoint,
            Tags.ErrorType
        )]
        public const string ProcessDuration = "messaging.process.duration";

        [Metric(MetricKind.Counter, "{message}", "Messages received from external systems.", Tags.Endpoint, Tags.Outcome, Tags.Party)]
        public const string ReceivedMessages = "esb.message.received";

        [Metric(
            MetricKind.Counter,
            "{message}",
            "Messages received from external systems without an id, so that duplicates cannot be recognised."
        )]
        public const string Unidentified = "esb.message.unidentified";

        [Metric(MetricKind.Counter, "{header}", "Headers from external systems with a reserved name, which are dropped.", Tags.Endpoint)]
        public const string ReservedHeaders = "esb.header.reserved";

        [Metric(MetricKind.Counter, "{value}", "Header values from the broker that are nested too deeply to be read.")]
        public const string NestedHeaders = "esb.header.nested";

        [Metric(
            MetricKind.Histogram,
            "s",
            "From the adapter's hand-over until the first publish was confirmed.",
            Tags.Endpoint,
            Tags.Topic,
            Tags.Party
        )]
        public const string InboundDuration = "esb.inbound.duration";

        [Metric(
            MetricKind.Histogram,
            "s",
            "From receipt of a request by an endpoint until it has the answer.",
            Tags.Endpoint,
            Tags.Outcome,
            Tags.Party
        )]
        public const string RequestDuration = "esb.request.duration";

        [Metric(MetricKind.Gauge, "{call}", "Calls in flight at an inbound endpoint.", Tags.Endpoint)]
        public const string CallsInUse = "esb.calls.in_use";

        [Metric(MetricKind.Gauge, "{call}", "Maximum concurrent calls of an inbound endpoint.", Tags.Endpoint)]
        public const string CallsMaximum = "esb.calls.maximum";

        [Metric(
            MetricKind.Counter,
            "{request}",
            "Requests rejected by a listener before an endpoint received them.",
            Tags.Listener,
            Tags.ErrorType
        )]
        public const string RefusedRequests = "esb.http.request.refused";

        [Metric(
            MetricKind.Counter,
            "{request}",
            "Requests rejected for lack of a credential or a permission, or by a rate limit.",
            Tags.Endpoint,
            Tags.ErrorType,
            Tags.Party
        )]
        public const string DeniedRequests = "esb.http.request.denied";

        [Metric(
            MetricKind.Histogram,
            "s",
            "Times above 50 ms for which one connection held a thread that others wait for, without the time in which it could not run."
        )]
        public const string SocketThreadHeld = "esb.http.socket_thread.held";

        [Metric(MetricKind.Counter, "{request}", "Requests of parties that an endpoint admitted.", Tags.Endpoint, Tags.Party)]
        public const string PartyRequests = "esb.party.requests";

        [Metric(
            MetricKind.Counter,
            "{message}",
            "Messages sent to external systems: from a queue, by a call, or by a relay.",
            Tags.Endpoint,
            Tags.Topic,
            Tags.Party
        )]
        public const string SentOutside = "esb.message.sent";

        [Metric(
            MetricKind.Histogram,
            "s",
            "From taking a message from its queue until it is sent, with its attempts and waiting for an instance.",
            Tags.Endpoint,
            Tags.Topic,
            Tags.Party
        )]
        public const string OutboundDuration = "esb.outbound.duration";

        [Metric(
            MetricKind.Histogram,
            "s",
            "One attempt inside an outbound adapter.",
            Tags.Endpoint,
            Tags.Topic,
            Tags.Party,
            Tags.ErrorType
        )]
        public const string AdapterDuration = "esb.adapter.duration";

        [Metric(
            MetricKind.Counter,
            "{message}",
            "Messages given up by delivery and stored as dead letters.",
            Tags.Endpoint,
            Tags.Topic,
            Tags.Party,
            Tags.ErrorType
        )]
        public const string DeadLettered = "esb.message.dead_lettered";

        [Metric(
            MetricKind.Counter,
            "{message}",
            "Messages given up by delivery that wait, with the rest of their key, for an operator.",
            Tags.Endpoint,
            Tags.Topic,
            Tags.Party,
            Tags.ErrorType
        )]
        public const string Parked = "esb.message.parked";

        [Metric(MetricKind.Counter, "{message}", "Dead letters sent again.", Tags.Endpoint)]
        public const string Replayed = "esb.message.replayed";

        [Metric(
            MetricKind.Counter,
            "{message}",
            "Messages that an endpoint recognised as duplicates and did not apply again.",
            Tags.Endpoint,
            Tags.Outcome
        )]
        public const string Duplicates = "esb.message.duplicates";

        [Metric(MetricKind.Counter, "{message}", "Messages published without a subscribing endpoint.")]
        public const string Unroutable = "esb.message.unroutable";

        [Metric(MetricKind.Counter, "{message}", "Replies whose requester no longer waits.")]
        public const string ReplyAbandoned = "esb.message.reply_abandoned";

        [Metric(MetricKind.Counter, "{message}", "Copies of wire taps that no topic accepted.", Tags.Step, Tags.ErrorType)]
        public const string LostCopies = "esb.message.lost_copies";

        [Metric(MetricKind.Gauge, "{message}", "Dead letters that wait for an operator.", Tags.Endpoint)]
        public const string DeadLettersOpen = "esb.dead_letter.open";

        [Metric(MetricKind.Gauge, "s", "Time since the oldest open dead letter was last tried.", Tags.Endpoint)]
        public const string DeadLetterAge = "esb.dead_letter.age";

        [Metric(MetricKind.Gauge, "{key}", "Keys with parked messages.", Tags.Endpoint)]
        public const string ParkedKeys = "esb.parked.keys";

        [Metric(MetricKind.Gauge, "s", "Time since the first parked key was parked.", Tags.Endpoint)]
        public const string ParkedAge = "esb.parked.age";

        [Metric(MetricKind.Counter, "{endpoint}", "Endpoints closed because opening their queue ended the process.", Tags.Endpoint)]
        public const string Quarantined = "esb.endpoint.quarantined";

        [Metric(
            MetricKind.Gauge,
            "{message}",
            "Messages published by transactions that wait in the outbox of a database.",
            Tags.Connection
        )]
        public const string OutboxLength = "esb.outbox.length";

        [Metric(MetricKind.Gauge, "s", "Age of the oldest message in the outbox of a database.", Tags.Connection)]
        public const string OutboxAge = "esb.outbox.age";

        [Metric(MetricKind.Histogram, "s", "Waiting for a free instance of a pool.", Tags.Pool)]
        public const string PoolWaitDuration = "esb.pool.wait.duration";

        [Metric(MetricKind.Gauge, "{instance}", "Instances of a pool that are rented.", Tags.Pool)]
        public const string PoolInUse = "esb.pool.in_use";

        [Metric(MetricKind.Gauge, "{instance}", "Instances of a pool that exist.", Tags.Pool)]
        public const string PoolCreated = "esb.pool.created";

        [Metric(MetricKind.Gauge, "{instance}", "Maximum instances of a pool.", Tags.Pool)]
        public const string PoolMaximum = "esb.pool.maximum";

        [Metric(MetricKind.Counter, "{wait}", "Callers that had to wait for an instance of a pool.", Tags.Pool)]
        public const string PoolWaits = "esb.pool.waits";

        [Metric(MetricKind.Gauge, "%", "Processor time that the host uses, of all processors that it may use; a mean of about 10 s.")]
        public const string ProcessorUsage = "esb.processor.usage";

        [Metric(
            MetricKind.Gauge,
            "{thread}",
            "Threads of the machine that run or wait for a processor, for each processor; a mean of about 10 s. Linux only."
        )]
        public const string ProcessorQueue = "esb.processor.queue";

        [Metric(MetricKind.Gauge, null, "Loads that have marks.", Tags.Mark, Tags.Endpoint)]
        public const string MarkValue = "esb.mark.value";

        [Metric(
            MetricKind.Gauge,
            null,
            "1 from the high mark of a load until it has fallen to the low one, else 0.",
            Tags.Mark,
            Tags.Endpoint
        )]
        public const string MarkCrossed = "esb.mark.crossed";

        [Metric(MetricKind.Counter, null, "Crossings of the high mark of a load.", Tags.Mark, Tags.Endpoint)]
        public const string MarkCrossings = "esb.mark.crossings";

        [Metric(
            MetricKind.Gauge,
            "{instance}",
            "Workflow instances that have not ended, of all hosts that share the store.",
            Tags.Workflow,
            Tags.State
        )]
        public const string WorkflowInstances = "esb.workflow.instances";

        [Metric(MetricKind.Counter, "{instance}", "Workflow instances that started.", Tags.Workflow)]
        public const string WorkflowStarted = "esb.workflow.started";

        [Metric(MetricKind.Counter, "{instance}", "Workflow instances that ended.", Tags.Workflow, Tags.State)]
        public const string WorkflowEnded = "esb.workflow.ended";

        [Metric(
            MetricKind.Counter,
            "{instance}",
            "Workflow instances that stopped for an operator: Suspended or CompensationFailed.",
            Tags.Workflow,
            Tags.State
        )]
        public const string WorkflowStopped = "esb.workflow.stopped";

        [Metric(MetricKind.Counter, "{checkpoint}", "Checkpoints of workflow instances that were stored.", Tags.Workflow, Tags.State)]
        public const string WorkflowCheckpoints = "esb.workflow.checkpoints";

        [Metric(MetricKind.Histogram, "{checkpoint}", "Checkpoints stored in one commit.")]
        public const string WorkflowCommit = "esb.workflow.commit.checkpoints";

        [Metric(
            MetricKind.Histogram,
            "s",
            "From the request of a checkpoint until it is stored, with waiting for its commit.",
            Tags.Workflow
        )]
        public const string WorkflowCheckpointDuration = "esb.workflow.checkpoint.duration";

        [Metric(MetricKind.Histogram, "s", "Lateness of timers of workflows and held messages, by the clock of the store.", Tags.TimerKind)]
        public const string TimerLateness = "esb.timer.lateness";

        [Metric(MetricKind.UpDownCounter, "{fact}", "Audit facts that wait to be moved to their store.")]
        public const string AuditQueueLength = "esb.audit.queue.length";

        [Metric(MetricKind.Gauge, "s", "Age of the oldest audit fact that waits to be moved to its store; 0 if none waits.")]
        public const string AuditQueueAge = "esb.audit.queue.age";

        [Metric(
            MetricKind.Counter,
            "{fact}",
            "Audit facts rejected by their store permanently, and kept in spool/refused on this machine."
        )]
        public const string AuditRefused = "esb.audit.refused";

        [Metric(MetricKind.Gauge, "By", "Size of the audit spool on disk.")]
        public const string AuditSpoolSize = "esb.audit.spool.size";

        [Metric(MetricKind.Gauge, "By", "Maximum size of the audit spool on disk.")]
        public const string AuditSpoolLimit = "esb.audit.spool.limit";

        [Metric(MetricKind.Counter, "{reload}", "Reloads of the configuration: done, unchanged or refused.", Tags.ReloadOutcome)]
        public const string Reloads = "esb.config.reloads";

        [Metric(
            MetricKind.Counter,
            "{request}",
            "Requests to the management API without a key, with a wrong one, or without the role.",
            Tags.ErrorType
        )]
        public const string RefusedManagement = "esb.management.refused";

        [Metric(MetricKind.Counter, "{message}", "Messages between hosts without a signature of the farm, or received twice.")]
        public const string RefusedFarmMessages = "esb.farm.refused";

        [Metric(
            MetricKind.Counter,
            "{message}",
            "Messages in flight when the host stopped that were completed, or returned to their queue, in time."
        )]
        public const string Drained = "esb.message.drained";

        [Metric(MetricKind.Counter, "{message}", "Messages still in flight when the time to stop expired.")]
        public const string Abandoned = "esb.message.abandoned";
    }
#pragma warning restore CS1591
}
