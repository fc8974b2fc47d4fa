using Esb.Core.Configuration.Settings;

namespace Esb.Core.Topics;

/// <summary>The section <c>transport</c>: the carrier of the topics. Its kinds add their own settings.</summary>
[Kinds("type", Default = "memory")]
public abstract record TransportConfig : SettingsRecord
{
    /// <summary>True if several hosts can share topics; false if each host has its own.</summary>
    public virtual bool SpansHosts => false;
}
