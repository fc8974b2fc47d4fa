using Esb.Core.Configuration.Settings;

namespace Esb.Core.Storage;

/// <summary>The section <c>store</c>: where audit facts and dead letters are kept. Its kinds bring settings of their own.</summary>
[Kinds("type", Default = "file")]
public abstract record StoreConfig : SettingsRecord
{
    /// <summary>How long settled dead letters are kept. Open ones, and parked messages, stay however old they are.</summary>
    [Setting("How long dead letters are kept after they were replayed or discarded, and replay jobs after their end; open letters and parked messages stay.", Range = "1h..36500d")]
    public TimeSpan Retention { get; init; } = TimeSpan.FromDays(30);

    /// <summary>How long bodies that travel as a reference are kept, at least.</summary>
    [Setting("How long bodies that travel as a reference are kept, at least: longer than any message may wait in a queue.", Range = "1d..36500d")]
    public TimeSpan ClaimRetention { get; init; } = TimeSpan.FromDays(30);

    /// <summary>The folder of this host, also where its store is shared.</summary>
    public virtual string Folder { get; init; } = "esb-data";

    /// <summary>Whether all hosts of a farm keep their things in one place; false where each host has its own.</summary>
    public virtual bool IsShared => false;
}
