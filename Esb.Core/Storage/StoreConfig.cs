using Esb.Core.Configuration.Settings;

namespace Esb.Core.Storage;

/// <summary>The section <c>store</c>: the place of audit facts and dead letters. Its kinds add their own settings.</summary>
[Kinds("type", Default = "file")]
public abstract record StoreConfig : SettingsRecord
{
    /// <summary>Retention of settled dead letters. Open letters, and parked messages, are kept regardless of age.</summary>
    [Setting(
        "How long dead letters are kept after they were replayed or discarded, and replay jobs after their end; open letters and "
            + "parked messages stay.",
        Range = "1h..36500d"
    )]
    public TimeSpan Retention { get; init; } = TimeSpan.FromDays(30);

    /// <summary>Minimum retention of bodies that travel as a reference.</summary>
    [Setting(
        "How long bodies that travel as a reference are kept, at least: longer than any message may wait in a queue.",
        Range = "1d..36500d"
    )]
    public TimeSpan ClaimRetention { get; init; } = TimeSpan.FromDays(30);

    /// <summary>The folder of this host, even if its store is shared.</summary>
    public virtual string Folder { get; init; } = "esb-data";

    /// <summary>True if it keeps bodies that are too large for memory, in a folder that all hosts reach.</summary>
    public virtual bool KeepsStreams => false;

    /// <summary>True if all hosts of a farm share one store; false if each host has its own.</summary>
    public virtual bool IsShared => false;
}
