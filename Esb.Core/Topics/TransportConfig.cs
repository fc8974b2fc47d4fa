using Esb.Core.Configuration.Settings;

namespace Esb.Core.Topics;

/// <summary>The section <c>transport</c>: what carries the topics. Its kinds bring settings of their own.</summary>
[Kinds("type", Default = "memory")]
public abstract record TransportConfig : SettingsRecord;
