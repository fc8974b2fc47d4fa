using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Audit;

/// <summary>When an audit fact counts as recorded.</summary>
internal enum AuditMode
{
    /// <summary>Once it is on a disk of this machine; it is moved to the store later.</summary>
    Spooled,

    /// <summary>Once it is in the store.</summary>
    Strict,
}

/// <summary>The section <c>audit</c>.</summary>
internal sealed record AuditConfig : AuditEvidenceConfig
{
    [Setting("When a fact counts as recorded: once it is on this machine's disk (spooled), or once it is in the store (strict).")]
    public AuditMode Mode { get; init; }

    [Setting("Audit services at work at once, over all audit steps; further calls wait.", Range = "1..10000")]
    public int MaxConcurrentInstances { get; init; } = 100;

    [Setting("How long facts are kept, at least.", Range = "1h..36500d")]
    public TimeSpan Retention { get; init; } = TimeSpan.FromDays(30);

    [Setting("How much of the bodies is recorded where no step says so.", Unavailable = true)]
    public string? Bodies { get; init; }

    [Setting("What is made unreadable before it is recorded.", Unavailable = true)]
    public IReadOnlyList<ConfigNode>? Masks { get; init; }
}
