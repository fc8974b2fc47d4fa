using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Core.Audit;

/// <summary>What one endpoint or topic records differently; what it does not name is as the section <c>audit</c> says. An endpoint comes before a topic.</summary>
public sealed record AuditPolicyConfig : SettingsRecord
{
    /// <summary>How much of a message is recorded.</summary>
    [Setting("How much of its messages is recorded: nothing, headers, also fields, also the whole body.", Main = true)]
    public AuditBodies? Bodies { get; init; }

    /// <summary>Where on the way of a message that is recorded.</summary>
    [Setting("Where that is recorded: as received, as published, as delivered, as replied, before and after each transform step.")]
    public IReadOnlyList<AuditPoint>? At { get; init; }

    /// <summary>Values to record for search, beside those of the section <c>audit</c>; one of the same name takes the place of that.</summary>
    [Setting("Values to record for search, beside those of the section audit.")]
    public IReadOnlyDictionary<string, ValueConfig> Fields { get; init; } = new Dictionary<string, ValueConfig>();

    /// <summary>Whether steps leave facts; of inbound endpoints only.</summary>
    [Setting("Whether each step of its process leaves a fact; of an inbound endpoint.")]
    public bool? Steps { get; init; }

    /// <summary>When its facts count as recorded.</summary>
    [Setting("When its facts count as recorded.")]
    public AuditMode? Mode { get; init; }
}
