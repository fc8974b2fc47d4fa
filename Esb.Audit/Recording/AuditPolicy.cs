using Esb.Core.Audit;

namespace Esb.Audit.Recording;

/// <summary>What is recorded of the messages of one endpoint, on one topic. Immutable.</summary>
internal sealed record AuditPolicy(
    AuditMode Mode,
    AuditFlush Flush,
    AuditBodies Bodies,
    IReadOnlyList<AuditPoint> At,
    bool Steps,
    IReadOnlyList<AuditField> Fields
)
{
    private readonly HashSet<AuditKind> _kinds = [.. At.SelectMany(KindsOf)];

    /// <summary>True if each fact is durable before the next action.</summary>
    public bool RecordsFirst => Mode == AuditMode.Strict || Flush == AuditFlush.Always;

    /// <summary>How much is recorded with facts of this kind.</summary>
    public AuditBodies Of(AuditKind kind) => Bodies != AuditBodies.None && _kinds.Contains(kind) ? Bodies : AuditBodies.None;

    private static AuditKind[] KindsOf(AuditPoint point) =>
        point switch
        {
            AuditPoint.Received => [AuditKind.Received, AuditKind.Refused],
            AuditPoint.Published => [AuditKind.Published],
            AuditPoint.Delivered => [AuditKind.Delivered],
            AuditPoint.Transformed => [AuditKind.StepEnded],
            _ => [AuditKind.Replied],
        };
}
