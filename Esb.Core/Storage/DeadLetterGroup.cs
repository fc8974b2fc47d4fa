using System.Text.RegularExpressions;

namespace Esb.Core.Storage;

/// <summary>Dead letters with the same cause.</summary>
/// <param name="Endpoint">The endpoint that abandoned them.</param>
/// <param name="Code">The code of the last failure.</param>
/// <param name="Cause">Common beginning of their reasons; null if not grouped by reason.</param>
/// <param name="Count">Number of letters.</param>
/// <param name="Oldest">Time at which the longest-waiting letter was last tried.</param>
/// <param name="Newest">Time at which the newest letter was last tried.</param>
public sealed record DeadLetterGroup(string Endpoint, string Code, string? Cause, long Count, DateTimeOffset Oldest, DateTimeOffset Newest);

/// <summary>Derives the cause that reasons have in common.</summary>
public static partial class DeadLetterCause
{
    private const int MaxLength = 80;

    /// <summary>Beginning of a reason, at most 80 characters, with ids and numbers made equal.</summary>
    public static string Of(string reason)
    {
        var start = reason.Length <= 2 * MaxLength ? reason : reason[..(2 * MaxLength)];
        var cause = Varying().Replace(start, "#");
        return (cause.Length <= MaxLength ? cause : cause[..MaxLength]).TrimEnd();
    }

    // Ids and numbers, by which two failures of one cause differ.
    [GeneratedRegex(@"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d+", RegexOptions.CultureInvariant)]
    private static partial Regex Varying();
}
