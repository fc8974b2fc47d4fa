using Esb.Audit;
using Esb.Audit.Recording;
using Esb.Core.Audit;

namespace Esb.Tests.Audit.Recording;

/// <summary>Builds trails for tests.</summary>
internal static class SomeTrails
{
    /// <summary>A trail over a store, of a configuration that says nothing but the mode.</summary>
    public static AuditTrail Over(IAuditStore store, AuditMode mode = AuditMode.Spooled) => new(new AuditConfig { Mode = mode }, store, Recorder(mode));

    /// <summary>What such a trail makes of facts.</summary>
    public static AuditRecorder Recorder(AuditMode mode = AuditMode.Spooled)
    {
        using var audit = new ConfiguredAudit($$"""{ "audit": { "mode": "{{mode.ToString().ToLowerInvariant()}}" } }""");
        return audit.Recorder;
    }
}
