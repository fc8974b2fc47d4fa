using Esb.Core.Configuration.Settings;
using Esb.Core.Schedules;
using Esb.Core.Topics;

namespace Esb.Core.Endpoints;

/// <summary>Whether the sender gets an answer.</summary>
public enum ExchangePattern
{
    /// <summary>The sender learns that the message was accepted.</summary>
    OneWay,

    /// <summary>The message at the end of the process is the sender's answer.</summary>
    RequestReply,
}

/// <summary>What endpoints have in common that read from outside.</summary>
[ExactlyOne("process", "publish", "relay", "workflow")]
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

    /// <summary>Not yet available.</summary>
    [Setting("The workflow that messages start or continue.", Unavailable = true)]
    public string? Workflow { get; init; }

    /// <summary>Whether only one host of the farm at a time reads.</summary>
    [Setting("Whether only one host of the farm at a time runs the endpoint; another takes over when that one is gone.")]
    public bool SingleInstance { get; init; }

    /// <summary>Whether the sender gets an answer.</summary>
    [Setting("Whether the sender gets only word that the message was accepted, or the message at the end of the process.")]
    public ExchangePattern Mode { get; init; }

    /// <summary>How long a sender waits for an answer in request-reply.</summary>
    [Setting("How long a caller waits for an answer in request-reply.", Range = "1ms..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>When messages are taken in; null for always.</summary>
    [Setting("The hours in which messages are taken in; always by default. Outside of them callers get 503 with Retry-After, and nothing is looked for.")]
    public ScheduleConfig? Schedule { get; init; }

    /// <summary>The outbound endpoints that requests are relayed to.</summary>
    public virtual IEnumerable<string> Relays => Relay is null ? [] : [Relay];

    /// <inheritdoc/>
    public override IReadOnlyList<string> Processes => Process is null ? [] : [Process];

    /// <summary>Messages that the endpoint works on at once, at most; null where its type sets no bound.</summary>
    public virtual int? CallsAtOnce => null;

    /// <summary>Whether two of it can take messages in at the same time, so that another revision of it starts before this one has
    /// stopped.</summary>
    public virtual bool CanOverlap => false;

    /// <summary>The code of a request whose answer took longer than <see cref="Timeout"/>, where the protocol has one of its own.</summary>
    public virtual string TimeoutCode => "ESB-INTAKE-TIMEOUT";
}
