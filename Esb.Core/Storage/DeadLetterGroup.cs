using System.Text.RegularExpressions;

namespace Esb.Core.Storage;

/// <summary>Dead letters that have the same cause.</summary>
/// <param name="Endpoint">The endpoint that gave them up.</param>
/// <param name="Code">The code of the last failure.</param>
/// <param name="Cause">How their reasons begin; null where the grouping does not look at reasons.</param>
/// <param name="Count">How many there are.</param>
/// <param name="Oldest">When the one that waits longest was last tried.</param>
/// <param name="Newest">When the latest was last tried.</param>
public sealed record DeadLetterGroup(string Endpoint, string Code, string? Cause, long Count, DateTimeOffset Oldest, DateTimeOffset Newest);

/// <summary>Finds what reasons have in common.</summary>
public static partial class DeadLetterCause
{
    private const int MaxLength = 80;

    /// <summary>The beginning of a reason, at most 80 characters, with ids and numbers made equal.</summary>
    public static string Of(string reason)
    {
        var start = reason.Length <= 2 * MaxLength ? reason : reason[..(2 * MaxLength)];
        var cause = Varying().Replace(start, "#");
        return (cause.Length <= MaxLength ? cause : cause[..MaxLength]).TrimEnd();
    }

    // Ids, and whatever has a digit in it: two failures of one cause differ there.
    [GeneratedRegex(@"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d+", RegexOptions.CultureInvariant)]
    private static partial Regex Varying();
}
