using Esb.Core.Configuration.Settings;

namespace Esb.Core.Topics;

/// <summary>The section <c>transport</c>: what carries the topics. Its kinds bring settings of their own.</summary>
[Kinds("type", Default = "memory")]
public abstract record TransportConfig : SettingsRecord
{
    /// <summary>Whether several hosts can work on the same topics; false where each has its own.</summary>
    public virtual bool SpansHosts => false;
}
