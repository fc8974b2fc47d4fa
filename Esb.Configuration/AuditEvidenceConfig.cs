using Esb.Core.Configuration.Settings;

namespace Esb.Configuration;

/// <summary>Settings of the section <c>audit</c> that the stores use: the location of the evidence that recorded facts are unchanged.
/// Without that section, no anchors are written.</summary>
public record AuditEvidenceConfig : SettingsRecord
{
    /// <summary>The folder of the anchors; null if no anchors are written.</summary>
    [Setting(
        "A folder outside of the store, best on another machine, that learns how far the chains of audit facts have come; without "
            + "it, facts that were removed at the end of a chain are not missed.",
        IsPath = true
    )]
    public string? Anchors { get; init; }

    /// <summary>The key that signs anchors (HMAC-SHA256).</summary>
    [Setting("Signs the anchors; not kept in the store. At least 16 characters.", Secret = true)]
    public string? AnchorKey { get; init; }

    /// <summary>The interval at which anchors are written while facts arrive. Anchors are also written at each stop.</summary>
    [Setting("How often the anchors follow the chains, and at each stop of the host.", Range = "1s..1d")]
    public TimeSpan AnchorInterval { get; init; } = TimeSpan.FromMinutes(10);
}
