namespace Esb.Storage;

/// <summary>How long is kept what was begun with a message, and nobody ended.</summary>
internal static class AttemptRetention
{
    private static readonly TimeSpan Kept = TimeSpan.FromDays(7);

    /// <summary>What was changed before that time may go.</summary>
    public static DateTimeOffset Oldest(TimeProvider time) => time.GetUtcNow() - Kept;
}
