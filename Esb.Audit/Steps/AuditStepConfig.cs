using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Audit.Steps;

/// <summary>The step <c>audit</c>: records that a message passed, with the requested parts of it.</summary>
internal sealed record AuditStepConfig : SettingsRecord
{
    [Setting("The name of the record.", Main = true)]
    public required string As { get; init; }

    [Setting("Values to record; records are found by them.")]
    public IReadOnlyDictionary<string, ValueConfig> Fields { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("Whether the whole body is recorded.")]
    public bool Body { get; init; }

    [Setting("Messages that the step records at once; further ones wait. More than 50 can cost more than they give.", Range = "1..1000")]
    public int MaximumInstances { get; init; } = 50;

    [Setting(
        "How long a message waits for its turn in the step and at the audit service, both together, before the step fails.",
        Range = "1ms..1h"
    )]
    public TimeSpan PoolTimeout { get; init; } = TimeSpan.FromSeconds(60);
}
