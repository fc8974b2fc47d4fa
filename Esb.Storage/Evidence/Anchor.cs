using System.Text.Json.Serialization;

namespace Esb.Storage.Evidence;

/// <summary>What an anchor says.</summary>
internal enum AnchorKind
{
    /// <summary>A chain has come so far.</summary>
    Head,

    /// <summary>A day was dropped: its retention is over.</summary>
    Dropped,

    /// <summary>A day was dropped after it was written to an archive.</summary>
    Archived,
}

/// <summary>A line of an anchor file. Kept outside of the store, it tells what must be there, or why it is not.</summary>
internal sealed record Anchor
{
    public required AnchorKind Kind { get; init; }

    /// <summary>When it was written.</summary>
    public required DateTimeOffset At { get; init; }

    /// <summary>The machine that wrote it.</summary>
    public required string Host { get; init; }

    /// <summary>The day of the facts.</summary>
    public required DateOnly Day { get; init; }

    /// <summary>The chain; null where the day as a whole is meant.</summary>
    public Guid? Chain { get; init; }

    /// <summary>How many facts the chain has.</summary>
    public long Count { get; init; }

    /// <summary>The link of the last of them.</summary>
    public byte[]? Head { get; init; }

    /// <summary>The file of the archive, and its SHA-256.</summary>
    public string? Archive { get; init; }

    /// <summary>HMAC-SHA256 over the line before and this one, without this member: no line can be changed, and none taken out of the
    /// middle.</summary>
    [JsonPropertyOrder(1)]
    public byte[]? Mac { get; init; }
}
