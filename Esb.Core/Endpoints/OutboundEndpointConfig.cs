using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Topics;

namespace Esb.Core.Endpoints;

/// <summary>Delivery order of an endpoint.</summary>
public enum DeliveryMode
{
    /// <summary>Several deliveries at once, in no guaranteed order.</summary>
    Parallel,

    /// <summary>One delivery at a time across all hosts, in the order of publish confirmations.</summary>
    Ordered,

    /// <summary>One delivery at a time per key across all hosts, in the order of publish confirmations; different keys
    /// concurrently.</summary>
    OrderedByKey,
}

/// <summary>Action on a message after its last attempt has failed.</summary>
public enum FailureAction
{
    /// <summary>It is stored as a dead letter.</summary>
    DeadLetter,

    /// <summary>It and the later ones of its key wait for an operator.</summary>
    Park,

    /// <summary>It is dropped, and recorded as dropped.</summary>
    Discard,
}

/// <summary>Settings common to endpoints that send to external systems.</summary>
public abstract record OutboundEndpointConfig : EndpointConfig
{
    /// <summary>True if it answers: a request needs exactly one subscriber that does.</summary>
    public virtual bool Answers => false;

    /// <summary>True if it can recognise messages that it has applied before, as <see cref="Once"/> requires.</summary>
    public virtual bool CanBeOnce => false;

    /// <summary>True if a call may name one of several targets.</summary>
    public virtual bool HasTargets => false;

    /// <summary>True if a call may set path, query, method and headers of the request (<see cref="Messages.CallRequest"/>).</summary>
    public virtual bool TakesRequests => false;

    /// <summary>True if it sends bodies that are not in memory.</summary>
    public virtual bool TakesStreams => false;

    /// <summary>The settings that read properties of the process that calls the endpoint, where a message without them fails.</summary>
    public virtual IEnumerable<PropertyUse> PropertyUses => [];

    /// <summary>True if one of the targets may have this name; any name if targets change while the bus runs.</summary>
    public virtual bool MayHaveTarget(string name) => false;

    /// <summary>The database connection whose transactions its effect can join; null if none.</summary>
    public virtual string? Database => null;

    /// <inheritdoc/>
    public override IReadOnlyList<string> Processes => [.. new[] { Process, Reply }.OfType<string>()];

    /// <summary>The process that creates the sent message, before an instance is rented; null if messages are sent unchanged.</summary>
    public virtual string? PreparedBy => Process;

    /// <summary>Subjects it subscribes to; empty if it is only called.</summary>
    [Setting("The subjects it subscribes to; * stands for one part, # for any number.")]
    public IReadOnlyList<SubjectPattern> Subscribe { get; init; } = [];

    /// <summary>True if it has a queue: it subscribes to something, or the bus sends to it.</summary>
    public virtual bool HasQueue => Subscribe.Count > 0;

    /// <summary>Condition on the messages it accepts.</summary>
    [Setting("A condition on headers; messages for which it does not hold are skipped.")]
    public ConditionConfig? Filter { get; init; }

    /// <summary>The process that each message runs through before it is sent.</summary>
    [Setting(
        "The process that each message runs through before it is sent, within timeout; what it filters is not sent.",
        Reference = "processes"
    )]
    public virtual string? Process { get; init; }

    /// <summary>The process that the answer of a request or a call runs through.</summary>
    [Setting(
        "The process that the answer of a request or a call runs through; the message at its end is the answer.",
        Reference = "processes"
    )]
    public string? Reply { get; init; }

    /// <summary>Maximum instances on a host.</summary>
    [Setting("Instances that may exist at once on a host; they are made only when none is free.", Range = "1..1000")]
    public int PoolSize { get; init; } = 1;

    /// <summary>Time that a delivery or a call waits for a free instance.</summary>
    [Setting("How long a delivery or a call waits for a free instance.", Range = "1ms..1h")]
    public TimeSpan PoolTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Concurrent deliveries on a host.</summary>
    [Setting("Deliveries at once on a host.", Range = "1..1000")]
    public int ProcessingThreads { get; init; } = 1;

    /// <summary>Maximum unsettled messages in transit from the broker; by default twice the smaller of <see cref="PoolSize"/> and
    /// <see cref="ProcessingThreads"/>, at least 32.</summary>
    [Setting(
        "Messages that may be on their way from the broker; by default twice the smaller of poolSize and processingThreads, at least 32.",
        Range = "1..10000"
    )]
    public int? Prefetch { get; init; }

    /// <summary>Delivery order.</summary>
    [Setting("In which order it delivers; tuning never changes it.")]
    public DeliveryMode Delivery { get; init; }

    /// <summary>Number of lanes over which messages are spread by key, if keys keep their order; fixed once the queues exist on a
    /// broker.</summary>
    [Setting(
        "The lanes that messages are spread over by their key, with delivery ordered-by-key; up to processingThreads of them are "
            + "worked on at once.",
        Range = "1..64"
    )]
    public int Lanes { get; init; } = 8;

    /// <summary>What becomes of a message when no attempt is left; by default park in ordered modes, else dead-letter.</summary>
    [Setting("Action for a message whose last attempt has failed; by default park in ordered modes, otherwise dead-letter.")]
    public FailureAction? OnFailure { get; init; }

    /// <summary>Retry policy of failed deliveries.</summary>
    [Setting("How a failed delivery is tried again.")]
    public RetryConfig Retry { get; init; } = new();

    /// <summary>When the endpoint pauses because its external system does not answer.</summary>
    [Setting("When the endpoint pauses because its external system does not answer, and how it probes.")]
    public CircuitBreakerConfig CircuitBreaker { get; init; } = new();

    /// <summary>Maximum attempts a second on a host; null for no limit.</summary>
    [Setting("Attempts a second, at most, at what it subscribes to, on a host; by default no limit.", Range = "1..100000")]
    public int? Rate { get; init; }

    /// <summary>Messages in its queue from which the mark is shown; null for no mark.</summary>
    [Setting("Messages that wait in its queue, from which a notice and an alert are raised; by default no mark.", Range = "1..1000000000")]
    public int? WaitingHigh { get; init; }

    /// <summary>Low mark of waiting messages; half of the high one if null.</summary>
    [Setting("Waiting messages at which the mark is left again; by default half of waitingHigh.", Range = "0..1000000000")]
    public int? WaitingLow { get; init; }

    /// <summary>True if delivery starts paused, as by an operator.</summary>
    [Setting("Whether it delivers nothing until an operator resumes it; its messages wait in their queue.")]
    public bool Paused { get; init; }

    /// <summary>Time-out of one attempt.</summary>
    [Setting("How long one attempt may take.", Range = "1ms..10m")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Settings of its queue.</summary>
    [Setting("How its queue is made on the broker.")]
    public QueueConfig Queue { get; init; } = new();

    /// <summary>True if the effect of a message happens once even if it is delivered twice, within seven days.</summary>
    [Setting(
        "Whether the effect of a message happens once even when it is delivered twice, within seven days: sql-outbound with execute only."
    )]
    public bool Once { get; init; }

    /// <summary>True if only one host of the farm delivers at a time, under a lease with a fencing token.</summary>
    [Setting(
        "Whether only one host of the farm at a time delivers; another takes over when that one is gone. sql-outbound refuses, and "
            + "http-outbound hands on the token to refuse, what a host does that lost its lease."
    )]
    public bool SingleInstance { get; init; }
}

/// <summary>Retry policy of failed deliveries: some attempts at once, then one after each delay.</summary>
public sealed record RetryConfig : SettingsRecord
{
    /// <summary>Repetitions without a delay.</summary>
    [Setting("Repetitions without a delay.", Range = "0..10")]
    public int Immediate { get; init; } = 2;

    /// <summary>The delay before each further repetition.</summary>
    [Setting("The delay before each further repetition.", Range = "10ms..24h")]
    public IReadOnlyList<TimeSpan> Delays { get; init; } = [TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(60), TimeSpan.FromSeconds(300)];
}
