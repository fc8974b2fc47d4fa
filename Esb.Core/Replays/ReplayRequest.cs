using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>An operator's request for a replay: letters, destination and pace. Immutable.</summary>
public sealed record ReplayRequest
{
    /// <summary>Maximum letters that a filter may match if no limit is given.</summary>
    public const int MaxUnlimited = 10_000;

    /// <summary>Filter for the letters; open letters if it names no state.</summary>
    public required DeadLetterFilter Letters { get; init; }

    /// <summary>Maximum letters, oldest first; null for all, which must not be more than <see cref="MaxUnlimited"/>.</summary>
    public int? Limit { get; init; }

    /// <summary>Another endpoint to receive them; null for the endpoint that abandoned each letter.</summary>
    public string? Redirect { get; init; }

    /// <summary>Maximum messages per second; null for as fast as messages are confirmed.</summary>
    public double? Rate { get; init; }

    /// <summary>Maximum letters of a batch; null to send all without a pause.</summary>
    public int? BatchSize { get; init; }

    /// <summary>Letters of the first batch; the size doubles after every batch without new failures.</summary>
    public int FirstBatch { get; init; } = 10;

    /// <summary>Time to watch for new failures after each batch.</summary>
    public TimeSpan BatchPause { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Share of letters failing again at which the job stops, above 0 and up to 1; null to continue regardless.</summary>
    public double? StopAtFailureShare { get; init; }

    /// <summary>True if letters may arrive after later messages of their key, which an endpoint that delivers in order otherwise
    /// rejects.</summary>
    public bool OutOfOrder { get; init; }

    /// <summary>Content to send instead of a letter; for one letter only.</summary>
    public ReplayEdit? Edit { get; init; }
}

/// <summary>Changes to a message before it is replayed; null values are unchanged. The result is a message with its own id.</summary>
public sealed record ReplayEdit
{
    /// <summary>On an edited message, the id of the message that it replaces.</summary>
    public const string ReplayOf = "replay-of";

    /// <summary>The new body.</summary>
    public ReadOnlyMemory<byte>? Body { get; init; }

    /// <summary>The new media type.</summary>
    public string? ContentType { get; init; }

    /// <summary>All headers of the edited message, except those of the bus.</summary>
    public IReadOnlyDictionary<string, string>? Headers { get; init; }
}
