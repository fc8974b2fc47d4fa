using Esb.Core.Audit;
using Esb.Core.Configuration.Settings;
using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>What all endpoints have in common.</summary>
[Kinds("type")]
public abstract record EndpointConfig : SettingsRecord
{
    /// <summary>What of the outside it reads or writes, in a form that can be compared; null where that cannot be told. Shows loops.</summary>
    public virtual string? Address => null;

    /// <summary>The paths of the settings that together say where it meets the external system, such as <c>endpoints.crm.url</c>; none
    /// where <see cref="Address"/> does.</summary>
    /// <remarks>People are shown what stands there in the configuration, with secrets masked.</remarks>
    public virtual IReadOnlyList<string> AddressPaths => [];

    /// <summary>The processes that its messages and answers run through; empty where there are none.</summary>
    public virtual IReadOnlyList<string> Processes => [];

    /// <summary>Whether it is started.</summary>
    [Setting("Whether the endpoint is started.")]
    public bool Enabled { get; init; } = true;

    /// <summary>Which headers cross the boundary.</summary>
    [Setting("The headers that may cross the boundary: names, or beginnings followed by *.")]
    public virtual IReadOnlyList<string> Headers { get; init; } = HeaderRules.DefaultPatterns;

    /// <summary>The party that owns what comes in, or on whose behalf the endpoint subscribes; null for none.</summary>
    [Setting("The party on whose behalf the endpoint acts: what comes in is that party's, and what it subscribes to the party must be allowed to.", Reference = "parties")]
    public string? Party { get; init; }

    /// <summary>Not yet available.</summary>
    [Setting("What decodes or encodes the body at the boundary.", Unavailable = true)]
    public string? Pipeline { get; init; }

    /// <summary>What of its messages is recorded; null where the section <c>audit</c> says all.</summary>
    [Setting("How much of the endpoint's messages is recorded; by default as in the section audit, and nothing for a relay.")]
    public AuditPolicyConfig? Audit { get; init; }
}
