using Esb.Core.Activities;
using Esb.Core.Endpoints;
using Esb.Core.Processes.Tracing;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Host.Management.Activities;
using Esb.Host.Management.DeadLetters;
using Esb.Host.Management.Events;
using Esb.Host.Management.Evidence;
using Esb.Host.Management.Farm;
using Esb.Host.Management.Flow;
using Esb.Host.Management.Itineraries;
using Esb.Host.Management.Logging;
using Esb.Host.Management.Marks;
using Esb.Host.Management.Messages;
using Esb.Host.Management.Metrics;
using Esb.Host.Management.Parking;
using Esb.Host.Management.Processes;
using Esb.Host.Management.Sessions;
using Esb.Host.Management.Traces;
using Esb.Host.Management.Validation;
using Esb.Host.Management.Workflows;
using Esb.Host.Reloading;
using Esb.Host.Versions;

namespace Esb.Host.Management.Description;

/// <summary>The descriptions of the routes. A route that is not here is described by its path alone; a test tells.</summary>
internal static class ApiCatalog
{
    private const string Svg = "image/svg+xml";

    private static readonly (string, string)[] Paged =
    [
        ("after", "What the page before calls next."),
        ("before", "The same, as earlier versions call it."),
        ("limit", "Items of a page, 1 to 1000."),
    ];
    private static readonly (string, string)[] Period = [("from", "Earliest time, inclusive."), ("to", "Latest time, exclusive.")];

    private static readonly (string, string) Force = ("force", "true to suspend instances of workflows that could not go on.");

    private static readonly (string, string)[] Letters =
    [
        ("endpoint", "The endpoint."),
        ("code", "The code of the failure."),
        ("subject", "The subject."),
        ("key", "The order key."),
        ("messageId", "The message."),
        .. Period,
        ("state", "open, replaying, replayed or discarded."),
        ("text", "A part of the reason."),
        ("job", "The replay job."),
    ];

    private static readonly Dictionary<string, ApiRoute> Routes = All().ToDictionary(route => $"{route.Method} {route.Path}");

    /// <summary>True if the route is described here.</summary>
    public static bool Knows(string method, string path) => Routes.ContainsKey($"{method} {path}");

    /// <summary>Every route that is described.</summary>
    public static IReadOnlyCollection<ApiRoute> Described => Routes.Values;

    public static ApiRoute Of(string method, string path) =>
        Routes.GetValueOrDefault($"{method} {path}") ?? new ApiRoute(method, path, $"{method} {path}");

    private static IEnumerable<ApiRoute> All() =>
        [
            Get<LiveView>("/health/live", "Tells that the process responds."),
            Get<ReadyView>("/health/ready", "Tells whether messages accepted now can be confirmed and recorded; 503 if not."),
            new("GET", "/metrics", "Metrics in the Prometheus format.") { Media = "text/plain" },
            Get<MetricsView>("/api/metrics", "Metrics of this host.", ("format", "json or prometheus.")),
            new("DELETE", "/api/metrics/peaks", "Resets the peaks.") { Status = 204 },
            Post<SessionBody, SessionView>("/api/session", "Exchanges a key for a session cookie.") with
            {
                Status = 201,
            },
            Get<SessionView>("/api/session", "The owner of the key or session."),
            new("DELETE", "/api/session", "Signs out.") { Status = 204 },
            Get<Page<ManagementKeyView>>("/api/keys", "Names and roles of the management keys."),
            new("GET", "/api/events", "What happens, as server-sent events; resumable by Last-Event-ID.")
            {
                Media = "text/event-stream",
                Query = [("kinds", "The kinds wanted, separated by commas."), ("lastEventId", "As the header Last-Event-ID.")],
            },
            Get<Page<HostView>>("/api/hosts", "The hosts of the farm."),
            Get<FlowView>(
                "/api/flow",
                "What the configuration connects, with states, rates and places in a drawing.",
                ("format", $"json or svg ({Svg}).")
            ),
            Get<object>("/api/openapi.json", "This document."),
            Get<object>("/api/asyncapi.json", "The topics of the running configuration, as AsyncAPI 3.0."),
            Get<Page<EndpointStatus>>("/api/endpoints", "The endpoints of this host."),
            Get<EndpointStatus>("/api/endpoints/{name}", "An endpoint of this host."),
            new("PATCH", "/api/endpoints/{name}", "Tunes, pauses or resumes an endpoint on every host.")
            {
                Body = typeof(EndpointTuning),
                Answer = typeof(TunedEndpoint),
            },
            new("DELETE", "/api/endpoints/{name}/tuning", "Takes back everything that operators tuned at an endpoint.")
            {
                Answer = typeof(TunedEndpoint),
            },
            new("DELETE", "/api/endpoints/{name}/tuning/{setting}", "Takes back one tuned setting.") { Answer = typeof(TunedEndpoint) },
            Get<Page<TopicView>>("/api/topics", "The topics and their subscribers."),
            new("POST", "/api/topics/{subject}/messages", "Publishes a test message; its body is the body of the request.")
            {
                Media = "*/*",
                Answer = typeof(SendReceipt),
                Status = 202,
                Query = [("count", "Messages to publish, 1 to 1000.")],
            },
            Get<UnroutableSummary>("/api/unroutable", "Messages that found no subscriber.", ("peek", "Messages to look at, up to 10000.")),
            Post<ReplayUnroutable, UnroutableReplay>("/api/unroutable/replays", "Publishes unroutable messages again."),
            Get<ProcessView>("/api/processes/{name}", "A process of the running configuration, with all of its steps."),
            Get<Page<OutboxStatus>>("/api/outboxes", "The outboxes of this host."),
            Get<Page<AuditFactView>>(
                "/api/messages",
                "Finds recorded messages, newest first.",
                [
                    ("id", "The message."),
                    ("where", "NAME=VALUE of a recorded field; repeatable."),
                    ("endpoint", "The endpoint."),
                    ("process", "The process."),
                    ("kind", "The kind of fact."),
                    ("failed", "true for failures."),
                    ("party", "The party."),
                    ("trace", "The trace."),
                    .. Period,
                    .. Paged,
                ]
            ),
            Get<JourneyView>(
                "/api/messages/{id}",
                "The journey of a message, with recorded bodies.",
                ("format", "json, text, mermaid or svg.")
            ),
            Post<AuditReplayBody, AuditReplay>("/api/messages/{id}/replay", "Puts a recorded message into the queue of an endpoint.") with
            {
                Status = 202,
            },
            Post<AuditReplaysBody, AuditReplayReceipt>("/api/messages/replays", "Replays the messages that a filter finds, in parts."),
            Post<AuditReplaysBody, AuditReplayPreview>("/api/messages/replays/preview", "Counts the messages that a replay would send."),
            Post<EraseBody, EraseReceipt>("/api/messages/{id}/erase", "Erases the recorded bodies of a message."),
            Get<EvidenceView>(
                "/api/evidence",
                "Verifies that recorded facts are unchanged: follows their chains, and compares them with the anchors.",
                ("from", "First day (UTC), such as 2026-03-01; that of to if absent."),
                ("to", "Last day (UTC), at most 31 later; today if absent."),
                ("strict", "true to believe nothing that no anchor confirms.")
            ),
            Get<Page<DeadLetterView>>("/api/dead-letters", "Finds dead letters, newest first.", [.. Letters, .. Paged]),
            Get<Page<DeadLetterGroup>>(
                "/api/dead-letters/groups",
                "Counts dead letters by endpoint and code, or cause.",
                [.. Letters, ("by", "code or cause.")]
            ),
            Post<DeadLetterSelection, DiscardReceipt>("/api/dead-letters/discard", "Discards dead letters."),
            Get<DeadLetterView>("/api/dead-letters/{id}", "A dead letter, with its failures."),
            new("GET", "/api/dead-letters/{id}/body", "The body of a dead letter, as it came.")
            {
                Media = "application/octet-stream",
                Query = [("edited", "true for the body that a replay sends.")],
            },
            new("PUT", "/api/dead-letters/{id}/body", "Keeps a body that replays send instead; the letter keeps its own.")
            {
                Body = typeof(LetterBody),
                Answer = typeof(DeadLetterView),
            },
            new("DELETE", "/api/dead-letters/{id}/body", "Takes the edit of a body back.")
            {
                Body = typeof(TakenBackEdit),
                Answer = typeof(DeadLetterView),
            },
            Post<ReplayBody, ReplayJobView>("/api/dead-letters/{id}/replay", "Replays one dead letter, edited if wished.") with
            {
                Status = 202,
            },
            Get<Page<ReplayJobView>>("/api/replays", "Replay jobs, newest first.", Paged),
            Post<ReplayBody, ReplayJobView>("/api/replays", "Creates a replay job for dead letters.") with
            {
                Status = 202,
            },
            Post<ReplayBody, ReplayPreview>("/api/replays/preview", "What a replay would send; changes nothing."),
            Get<ReplayJobView>("/api/replays/{id}", "The progress of a replay job."),
            Post<ReasonBody, ReplayJobView>("/api/replays/{id}/pause", "Pauses a replay job."),
            Post<ReasonBody, ReplayJobView>("/api/replays/{id}/resume", "Resumes a replay job."),
            Post<ReasonBody, ReplayJobView>("/api/replays/{id}/cancel", "Cancels a replay job."),
            Get<Page<WaitingLineView>>(
                "/api/parked",
                "Endpoints that stand as a whole, then keys whose messages wait, longest first.",
                ("endpoint", "The endpoint."),
                ("after", "What the page before calls next."),
                ("limit", "1 to 1000.")
            ),
            Get<Page<WaitingMessage>>(
                "/api/parked/{endpoint}/{line}",
                "The messages of a key, in order.",
                ("after", "What the page before calls next."),
                ("limit", "1 to 1000.")
            ),
            new("GET", "/api/parked/{endpoint}/{line}/{id}/body", "The body of a parked message.") { Media = "application/octet-stream" },
            Post<ReasonBody, ReleaseReceipt>(
                "/api/parked/{endpoint}/{line}/release",
                "Tries the first message of a key again, and those behind it."
            ) with
            {
                Status = 202,
            },
            Post<DiscardParkedBody, DiscardReceipt>("/api/parked/{endpoint}/{line}/discard", "Discards a parked message, or all of a key."),
            Get<Page<WorkflowInstanceView>>(
                "/api/workflows",
                "Instances of workflows, newest first.",
                ("name", "The workflow."),
                ("state", "The state."),
                ("key", "NAME=VALUE of a business key."),
                ("step", "The step at which they stand."),
                ("code", "The code of the failure."),
                ("before", "Those that started before."),
                ("after", "What the page before calls next."),
                ("limit", "1 to 1000.")
            ),
            Get<Page<WorkflowDefinitionView>>(
                "/api/workflows/definitions",
                "The definitions of workflows, with the number of instances on each step."
            ),
            Get<WorkflowInstanceView>("/api/workflows/{id}", "An instance, with its variables and waits."),
            Get<Page<WorkflowEventView>>(
                "/api/workflows/{id}/history",
                "The history of an instance, oldest first.",
                ("after", "The checkpoint before."),
                ("limit", "1 to 1000.")
            ),
            new("GET", "/api/workflows/{id}/diagram", "The workflow of an instance as a drawing, with the place of the instance.")
            {
                Media = Svg,
                Query = [("format", "mermaid or svg.")],
            },
            Post<WorkflowActionBody, WorkflowInstanceView>(
                "/api/workflows/{id}/retry",
                "Runs a suspended instance on from the step that failed."
            ),
            Post<WorkflowActionBody, WorkflowInstanceView>(
                "/api/workflows/{id}/skip",
                "Runs a suspended instance on behind the step that failed."
            ),
            Post<WorkflowActionBody, WorkflowInstanceView>(
                "/api/workflows/{id}/terminate",
                "Ends an instance, and the instances that it runs."
            ),
            Post<WorkflowActionBody, WorkflowInstanceView>("/api/workflows/{id}/fire", "Ends the times for which an instance waits."),
            Get<Page<WorkflowBatch>>("/api/workflows/batches", "Actions on many instances that run on this host, and the last that ended."),
            Get<WorkflowBatch>("/api/workflows/batches/{id}", "An action on many instances, as far as it has come."),
            Post<WorkflowBatchBody, Page<WorkflowBatchGroup>>(
                "/api/workflows/batches/preview",
                "Counts the instances that an action would change."
            ),
            Post<WorkflowBatchBody, WorkflowBatch>(
                "/api/workflows/batches",
                "Retries, skips, terminates or fires every instance that a filter finds, in the background."
            ),
            Post<object, WorkflowBatch>("/api/workflows/batches/{id}/stop", "Stops an action on many instances."),
            Post<WorkflowMigrationBody, WorkflowMigration>(
                "/api/workflows/migrations",
                "Moves living instances to another definition of their workflow, or tells what would be moved."
            ),
            new("PATCH", "/api/workflows/{id}/variables", "Sets variables of an instance that does not run.")
            {
                Body = typeof(WorkflowVariablesBody),
                Answer = typeof(WorkflowInstanceView),
            },
            Get<Page<ItineraryView>>(
                "/api/itineraries",
                "Messages on itineraries with durable stops, newest first.",
                ("name", "The itinerary."),
                ("state", "waiting, completed, compensated or compensation-failed."),
                ("stop", "The stop at which they wait, or which they reached last."),
                ("after", "What the page before calls next."),
                ("limit", "1 to 1000.")
            ),
            Get<ItineraryView>("/api/itineraries/{id}", "Where a message is, with the stops of its itinerary."),
            Get<Page<ActivityReport>>("/api/activities", "The activities, counted over a period.", Period),
            Get<ActivityReport>(
                "/api/activities/{name}",
                "An activity, counted over a period and its parts.",
                [.. Period, ("bucket", "The length of a part, such as 1h.")]
            ),
            Get<Page<ActivityItemView>>(
                "/api/activities/{name}/items",
                "The items of an activity.",
                [.. Period, ("state", "in-progress, overdue or completed."), ("key", "The key."), .. Paged]
            ),
            new("POST", "/api/activities/rebuild", "Builds activities from recorded facts again.")
            {
                Answer = typeof(RebuiltActivities),
                Query = Period,
            },
            Get<object>("/api/configuration", "The running configuration: each value with its origin, secrets masked."),
            Get<ConfigurationFilesView>("/api/configuration/files", "The text of the files of the running configuration."),
            Post<ConfigurationContent, ValidationView>("/api/configuration/validate", "Checks a configuration; starts nothing."),
            Post<ConfigurationContent, PlannedReload>("/api/configuration/plan", "What a reload with these files would change."),
            new("POST", "/api/configuration/reload", "Reads the configuration again, on every host.")
            {
                Answer = typeof(ReloadResult),
                Query = [Force],
            },
            new("POST", "/api/configuration/migrate", "As reload, and moves queues where that is needed.")
            {
                Answer = typeof(ReloadResult),
                Query = [Force],
            },
            Get<VersionList>("/api/configuration/versions", "The versions of the configuration, newest first."),
            Get<VersionDetail>("/api/configuration/versions/{number}", "A version with its files and contents."),
            Get<VersionDifference>(
                "/api/configuration/versions/diff",
                "The lines that differ between two versions.",
                ("from", "The number of the earlier version."),
                ("to", "The number of the later version.")
            ),
            Post<AppliedConfiguration, ReloadResult>(
                "/api/configuration/apply",
                "Keeps the files as a version and puts it into service on every host."
            ),
            Post<RolledBack, ReloadResult>("/api/configuration/rollback", "Puts an earlier version into service again."),
            Get<Page<TraceView>>(
                "/api/traces",
                "Traces of endpoints, newest first.",
                ("message", "Only those that recorded this message.")
            ),
            Post<TraceBody, TraceView>("/api/traces", "Records the steps of messages of an endpoint for a while, on every host.") with
            {
                Status = 201,
            },
            Get<TraceView>("/api/traces/{id}", "A trace, with the messages that it recorded."),
            new("DELETE", "/api/traces/{id}", "Ends a trace; what it recorded stays for a while.") { Answer = typeof(TraceView) },
            Get<TracedMessage>(
                "/api/traces/{id}/messages/{pass}",
                "A message of a trace: its processes, the steps that ran, and the masked bodies."
            ),
            Get<Page<MarkView>>("/api/marks", "High and low marks of this host, and whether they are crossed."),
            Post<object, object>("/api/store/encryption", "Encrypts stored bodies anew with the first key."),
            new("GET", "/api/schema", "The JSON Schema of a configuration.") { Media = "application/schema+json" },
            Get<LogView>("/api/log", "The log levels of this host."),
            new("PATCH", "/api/log", "Changes log levels for a while.") { Body = typeof(LogBody), Answer = typeof(LogView) },
            Get<Page<LogLine>>(
                "/api/log/events",
                "The newest lines of the log of this host.",
                ("after", "The number of the last line known."),
                ("level", "The least level."),
                ("limit", "1 to 1000.")
            ),
        ];

    private static ApiRoute Get<TAnswer>(string path, string summary, params (string, string)[] query) =>
        new("GET", path, summary) { Answer = typeof(TAnswer), Query = query };

    private static ApiRoute Post<TBody, TAnswer>(string path, string summary) =>
        new("POST", path, summary) { Body = typeof(TBody), Answer = typeof(TAnswer) };
}

/// <summary>The answer of <c>/health/live</c>.</summary>
internal sealed record LiveView(bool Live);

/// <summary>The answer of <c>/health/ready</c>; without a key only its first member.</summary>
internal sealed record ReadyView(bool Ready, IReadOnlyList<object>? Obstacles, IReadOnlyList<string>? Notices, Backlog? Backlog);
