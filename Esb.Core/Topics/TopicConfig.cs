using Esb.Core.Audit;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Core.Topics;

/// <summary>A topic: decouples publishers and subscribers.</summary>
public sealed record TopicConfig : SettingsRecord
{
    /// <summary>True if messages survive a restart of the broker.</summary>
    [Setting("Whether messages survive a restart of the broker.")]
    public bool Persistent { get; init; } = true;

    /// <summary>The order key of a message; null if messages have none.</summary>
    [Setting("The order key of a message, evaluated when it is published.")]
    public ValueConfig? Key { get; init; }

    /// <summary>Not yet available.</summary>
    [Setting("How long a message may wait before it expires.", Unavailable = true)]
    public TimeSpan? TimeToLive { get; init; }

    /// <summary>The schema that messages are validated with; null to accept every message.</summary>
    [Setting("The schema that every message must pass when it is published.", Reference = "schemas")]
    public string? Schema { get; init; }

    /// <summary>True if large bodies travel as a reference.</summary>
    [Setting("Whether large bodies travel as a reference; false where foreign clients read.")]
    public bool ClaimCheck { get; init; } = true;

    /// <summary>What is recorded of all messages on the topic; null where the section <c>audit</c> says all.</summary>
    [Setting(
        "How much of all messages on the topic is recorded, unless their endpoint says otherwise; by default as in the section audit."
    )]
    public AuditPolicyConfig? Audit { get; init; }
}
