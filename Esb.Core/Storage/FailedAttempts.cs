namespace Esb.Core.Storage;

/// <summary>History of a message that fails repeatedly, bounded so that it can travel with the message.</summary>
public static class FailedAttempts
{
    /// <summary>Maximum attempts kept: the first, and the latest ones.</summary>
    public const int Most = 16;

    /// <summary>Maximum characters kept of a reason, except for the last attempt.</summary>
    public const int ShortReason = 200;

    /// <summary>Adds an attempt, whose reason stays whole; the reasons of earlier attempts are cut.</summary>
    public static IReadOnlyList<FailedAttempt> Add(IReadOnlyList<FailedAttempt> earlier, FailedAttempt attempt) =>
        [.. Shorten(earlier.Count < Most ? earlier : [earlier[0], .. earlier.Skip(earlier.Count - Most + 2)]), attempt];

    /// <summary>The history with every reason cut.</summary>
    public static IEnumerable<FailedAttempt> Shorten(IEnumerable<FailedAttempt> failures) =>
        failures.Select(failure =>
            failure.Reason.Length <= ShortReason ? failure : failure with { Reason = Cut(failure.Reason, ShortReason) }
        );

    /// <summary>Beginning of a text, at most this many characters, never splitting a surrogate pair.</summary>
    public static string Cut(string text, int length) =>
        text.Length <= length ? text : text[..(char.IsHighSurrogate(text[length - 1]) ? length - 1 : length)];
}
