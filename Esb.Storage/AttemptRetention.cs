namespace Esb.Storage;

/// <summary>How long is kept what was begun with a message, and nobody ended.</summary>
internal static class AttemptRetention
{
    public static readonly TimeSpan Kept = TimeSpan.FromDays(7);
}
