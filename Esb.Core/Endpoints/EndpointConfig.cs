using Esb.Core.Audit;
using Esb.Core.Configuration.Settings;
using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>Settings common to all endpoints.</summary>
[Kinds("type")]
public abstract record EndpointConfig : SettingsRecord
{
    /// <summary>The external address this endpoint reads or writes, normalised for comparison; null if unknown. Used to detect
    /// loops.</summary>
    public virtual string? Address => null;

    /// <summary>Paths of the settings that together form its external address, such as <c>endpoints.crm.url</c>; empty if
    /// <see cref="Address"/> is shown instead.</summary>
    /// <remarks>The configured values at these paths are shown to people, with secrets masked.</remarks>
    public virtual IReadOnlyList<string> AddressPaths => [];

    /// <summary>The processes that its messages and answers run through; empty if none.</summary>
    public virtual IReadOnlyList<string> Processes => [];

    /// <summary>True if it is started.</summary>
    [Setting("Whether the endpoint is started.")]
    public bool Enabled { get; init; } = true;

    /// <summary>Roles of the hosts that run it; empty if every host does.</summary>
    [Setting("The roles of the hosts that run it (host.roles); every host by default.")]
    public IReadOnlyList<string> Roles { get; init; } = [];

    /// <summary>Headers that may cross the boundary.</summary>
    [Setting("The headers that may cross the boundary: names, or beginnings followed by *.")]
    public virtual IReadOnlyList<string> Headers { get; init; } = HeaderRules.DefaultPatterns;

    /// <summary>The party that owns received messages, or on whose behalf the endpoint subscribes; null for none.</summary>
    [Setting(
        "The party on whose behalf the endpoint acts: what comes in is that party's, and what it subscribes to the party must be "
            + "allowed to.",
        Reference = "parties"
    )]
    public string? Party { get; init; }

    /// <summary>Not yet available.</summary>
    [Setting("What decodes or encodes the body at the boundary.", Unavailable = true)]
    public string? Pipeline { get; init; }

    /// <summary>What of its messages is recorded; null where the section <c>audit</c> says all.</summary>
    [Setting("How much of the endpoint's messages is recorded; by default as in the section audit, and nothing for a relay.")]
    public AuditPolicyConfig? Audit { get; init; }
}
