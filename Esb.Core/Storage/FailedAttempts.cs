namespace Esb.Core.Storage;

/// <summary>The history of a message that fails again and again, bounded so that it can travel with the message.</summary>
public static class FailedAttempts
{
    /// <summary>The most attempts that are kept: the first, and the last ones.</summary>
    public const int Most = 16;

    /// <summary>The most characters of a reason that are kept, but for that of the last attempt.</summary>
    public const int ShortReason = 200;

    /// <summary>The history with one more attempt, whose reason is whole; those of earlier ones are cut.</summary>
    public static IReadOnlyList<FailedAttempt> Add(IReadOnlyList<FailedAttempt> earlier, FailedAttempt attempt) =>
        [.. Shorten(earlier.Count < Most ? earlier : [earlier[0], .. earlier.Skip(earlier.Count - Most + 2)]), attempt];

    /// <summary>The history with every reason cut.</summary>
    public static IEnumerable<FailedAttempt> Shorten(IEnumerable<FailedAttempt> failures) =>
        failures.Select(failure => failure.Reason.Length <= ShortReason ? failure : failure with { Reason = Cut(failure.Reason, ShortReason) });

    /// <summary>The beginning of a text, at most this many characters, and no half of a pair of surrogates.</summary>
    public static string Cut(string text, int length) =>
        text.Length <= length ? text : text[..(char.IsHighSurrogate(text[length - 1]) ? length - 1 : length)];
}
