using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>What an operator wants sent again, where to, and how carefully. Immutable.</summary>
public sealed record ReplayRequest
{
    /// <summary>The most letters that a filter may find where nobody says how many are meant.</summary>
    public const int MaxUnlimited = 10_000;

    /// <summary>Which letters; open ones where it names no state.</summary>
    public required DeadLetterFilter Letters { get; init; }

    /// <summary>The most letters, the oldest; null for all, which must not be more than <see cref="MaxUnlimited"/>.</summary>
    public int? Limit { get; init; }

    /// <summary>Another endpoint that gets them; null for the one that gave each up.</summary>
    public string? Redirect { get; init; }

    /// <summary>Messages per second at most; null for as many as are confirmed.</summary>
    public double? Rate { get; init; }

    /// <summary>The most letters of a batch; null to send all without a pause.</summary>
    public int? BatchSize { get; init; }

    /// <summary>The letters of the first batch; it doubles with every batch of which none came back.</summary>
    public int FirstBatch { get; init; } = 10;

    /// <summary>How long to look, after each batch, whether letters come back.</summary>
    public TimeSpan BatchPause { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>The share of letters that came back at which the job stops, from above 0 to 1; null to go on whatever happens.</summary>
    public double? StopAtFailureShare { get; init; }

    /// <summary>That letters may arrive behind later messages of their key, which an endpoint that delivers in order otherwise refuses.</summary>
    public bool OutOfOrder { get; init; }

    /// <summary>What to send instead of a letter; for one letter only.</summary>
    public ReplayEdit? Edit { get; init; }
}

/// <summary>Changes of a message before it is sent again; what is null stays. The result is a message with an id of its own.</summary>
public sealed record ReplayEdit
{
    /// <summary>On an edited message, the id of the one that it stands for.</summary>
    public const string ReplayOf = "replay-of";

    /// <summary>The new body.</summary>
    public ReadOnlyMemory<byte>? Body { get; init; }

    /// <summary>The new media type.</summary>
    public string? ContentType { get; init; }

    /// <summary>All headers from now on, but for those of the bus.</summary>
    public IReadOnlyDictionary<string, string>? Headers { get; init; }
}
