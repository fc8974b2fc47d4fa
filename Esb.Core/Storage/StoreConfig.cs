using Esb.Core.Configuration.Settings;

namespace Esb.Core.Storage;

/// <summary>The section <c>store</c>: where audit facts and dead letters are kept. Its kinds bring settings of their own.</summary>
[Kinds("type", Default = "file")]
public abstract record StoreConfig : SettingsRecord
{
    /// <summary>Whether all hosts of a farm keep their things in one place; false where each host has its own.</summary>
    public virtual bool IsShared => false;
}
