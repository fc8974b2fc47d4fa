using Esb.Core.Configuration.Settings;
using Esb.Core.Schedules;
using Esb.Core.Topics;

namespace Esb.Core.Endpoints;

/// <summary>Exchange pattern between sender and endpoint.</summary>
public enum ExchangePattern
{
    /// <summary>The sender receives a confirmation that the message was accepted.</summary>
    OneWay,

    /// <summary>The message at the end of the process is the sender's answer.</summary>
    RequestReply,
}

/// <summary>How the body of a message is handed to its process.</summary>
public enum BodyTransfer
{
    /// <summary>It is in memory as a whole.</summary>
    Buffered,

    /// <summary>The steps read it from where it is.</summary>
    Streamed,
}

/// <summary>Settings common to endpoints that read from external systems.</summary>
[ExactlyOne("process", "publish", "relay", "workflow", "itinerary")]
public abstract record InboundEndpointConfig : EndpointConfig
{
    /// <summary>The process that messages run through.</summary>
    [Setting("The process that messages run through.", Reference = "processes")]
    public string? Process { get; init; }

    /// <summary>The subject under which messages are published as they are.</summary>
    [Setting("The subject under which messages are published as they are.")]
    public Subject? Publish { get; init; }

    /// <summary>The outbound endpoint that requests are relayed to.</summary>
    [Setting("The http-outbound endpoint that requests are relayed to, always as request and reply.", Reference = "endpoints")]
    public string? Relay { get; init; }

    /// <summary>The workflow that each message starts.</summary>
    [Setting("The workflow that each message starts.", Reference = "workflows")]
    public string? Workflow { get; init; }

    /// <summary>The itinerary that messages follow.</summary>
    [Setting("The itinerary that messages follow: its name, or how one is chosen.")]
    public ItineraryChoiceConfig? Itinerary { get; init; }

    /// <summary>The process that messages enter: the configured one, or that which the bus makes for the itinerary or the workflow; null if
    /// there is none.</summary>
    public string? EntryProcess => Process ?? (Itinerary is null && Workflow is null ? null : $"endpoint:{Name}");

    /// <summary>How repetitions are recognised; null if they are not.</summary>
    [Setting("Lets messages with the same key pass once: a repetition does nothing again.")]
    public DedupeConfig? Dedupe { get; init; }

    /// <summary>True if a message is published in the transaction that takes it from the external system.</summary>
    public virtual bool TakesInTransaction => false;

    /// <summary>True if only one host of the farm reads at a time.</summary>
    [Setting("Whether only one host of the farm at a time runs the endpoint; another takes over when that one is gone.")]
    public virtual bool SingleInstance { get; init; }

    /// <summary>Exchange pattern: indicates whether the sender gets an answer.</summary>
    [Setting("Whether the sender gets only word that the message was accepted, or the message at the end of the process.")]
    public ExchangePattern Mode { get; init; }

    /// <summary>Time that a sender waits for an answer in request-reply.</summary>
    [Setting("How long a caller waits for an answer in request-reply.", Range = "1ms..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Time window in which messages are received; null for always.</summary>
    [Setting(
        "The hours in which messages are taken in; always by default. Outside of them callers get 503 with Retry-After, and nothing "
            + "is looked for."
    )]
    public ScheduleConfig? Schedule { get; init; }

    /// <summary>The outbound endpoints that requests are relayed to.</summary>
    public virtual IEnumerable<string> Relays => Relay is null ? [] : [Relay];

    /// <inheritdoc/>
    public override IReadOnlyList<string> Processes => EntryProcess is { } process ? [process] : [];

    /// <summary>Maximum messages processed concurrently; null if its type sets no limit.</summary>
    public virtual int? CallsAtOnce => null;

    /// <summary>True if two instances of it can receive messages at the same time, so that another revision starts before this one has
    /// stopped.</summary>
    public virtual bool CanOverlap => false;

    /// <summary>How bodies are handed to the process.</summary>
    public virtual BodyTransfer BodyTransfer => BodyTransfer.Buffered;

    /// <summary>True if a body that is not in memory can be read again, such as a file; false if it comes once.</summary>
    public virtual bool RereadsBodies => true;

    /// <summary>Code of a request whose answer took longer than <see cref="Timeout"/>; a protocol may have its own.</summary>
    public virtual string TimeoutCode => "ESB-INTAKE-TIMEOUT";
}
