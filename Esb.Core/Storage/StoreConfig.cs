using Esb.Core.Configuration.Settings;

namespace Esb.Core.Storage;

/// <summary>The section <c>store</c>: where audit facts and dead letters are kept. Its kinds bring settings of their own.</summary>
[Kinds("type", Default = "file")]
public abstract record StoreConfig : SettingsRecord;
