using Esb.Configuration;
using Esb.Content.Masking;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Audit;

/// <summary>The section <c>audit</c>.</summary>
internal sealed record AuditConfig : AuditEvidenceConfig
{
    [Setting("When a fact counts as recorded: once it is on this machine's disk (spooled), or once it is in the store (strict).")]
    public AuditMode Mode { get; init; }

    [Setting(
        "When facts are flushed to disk: before a message counts as accepted, but up to 100 ms behind an answer where nothing is "
            + "accepted (accepted), or always first (always)."
    )]
    public AuditFlush Flush { get; init; }

    [Setting("Audit services at work at once, over all audit steps; further calls wait.", Range = "1..10000")]
    public int MaxConcurrentInstances { get; init; } = 100;

    [Setting("How long facts are kept, at least.", Range = "1h..36500d")]
    public TimeSpan Retention { get; init; } = TimeSpan.FromDays(30);

    [Setting("How much of a message is recorded beside what happened to it: nothing, headers, also fields, also the whole body.")]
    public AuditBodies Bodies { get; init; }

    [Setting("At which points it is recorded: as received, as published, as delivered, as replied, before and after each transform step.")]
    public IReadOnlyList<AuditPoint> At { get; init; } = Enum.GetValues<AuditPoint>();

    [Setting("Whether each step of a process leaves a fact, with how long it took.")]
    public bool Steps { get; init; }

    [Setting("Values to record for search, with bodies fields or whole.")]
    public IReadOnlyDictionary<string, ValueConfig> Fields { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting(
        "The most that is recorded of a body; of a longer one its beginning, with the length and the SHA-256 of all of it.",
        Range = "1B..1GiB"
    )]
    public ByteSize MaxBody { get; init; } = ByteSize.KiB(256);

    [Setting("Values that are masked before anything is recorded or logged.")]
    public IReadOnlyList<MaskConfig> Masks { get; init; } = [];

    [Setting("The key of the hashes that masks write, of at least 16 characters.", Secret = true)]
    public string? HashKey { get; init; }
}
