namespace Esb.Storage;

/// <summary>The retention of attempts and crash marks of messages that were never completed.</summary>
internal static class AttemptRetention
{
    public static readonly TimeSpan Kept = TimeSpan.FromDays(7);
}
