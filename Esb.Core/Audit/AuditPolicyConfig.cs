using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Core.Audit;

/// <summary>Audit settings that one endpoint or topic overrides; others come from the section <c>audit</c>. An endpoint takes precedence
/// over a topic.</summary>
public sealed record AuditPolicyConfig : SettingsRecord
{
    /// <summary>Amount of a message that is recorded.</summary>
    [Setting("How much of its messages is recorded: nothing, headers, also fields, also the whole body.", Main = true)]
    public AuditBodies? Bodies { get; init; }

    /// <summary>Points on a message's path at which it is recorded.</summary>
    [Setting("At which points it is recorded: as received, as published, as delivered, as replied, before and after each transform step.")]
    public IReadOnlyList<AuditPoint>? At { get; init; }

    /// <summary>Values to record for search, in addition to the section <c>audit</c>; a value replaces one with the same name
    /// there.</summary>
    [Setting("Values to record for search, beside those of the section audit.")]
    public IReadOnlyDictionary<string, ValueConfig> Fields { get; init; } = new Dictionary<string, ValueConfig>();

    /// <summary>True if steps record facts; inbound endpoints only.</summary>
    [Setting("Whether each step of its process leaves a fact; of an inbound endpoint.")]
    public bool? Steps { get; init; }

    /// <summary>Point at which its facts count as recorded.</summary>
    [Setting("When its facts count as recorded.")]
    public AuditMode? Mode { get; init; }

    /// <summary>Point at which its facts are flushed to disk.</summary>
    [Setting("When its facts are flushed to disk.")]
    public AuditFlush? Flush { get; init; }
}
