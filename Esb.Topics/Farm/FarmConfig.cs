using Esb.Core.Configuration.Settings;

namespace Esb.Topics.Farm;

/// <summary>The section <c>farm</c>.</summary>
internal sealed record FarmConfig : SettingsRecord
{
    /// <summary>The shortest key, in characters.</summary>
    public const int ShortestKey = 32;

    /// <summary>The key that signs.</summary>
    [Setting(
        "Signs messages between hosts, and what they send one another's queues; the same on all hosts, at least 32 characters. By "
            + "default a shared store keeps one.",
        Secret = true
    )]
    public string? Key { get; init; }

    /// <summary>A key that is accepted beside it.</summary>
    [Setting("Signatures with this key are accepted too, while the key is replaced host by host.", Secret = true)]
    public string? PreviousKey { get; init; }
}
