using Esb.Core.Storage;

namespace Esb.Storage.Files.DeadLetters;

/// <summary>Whether a letter is one that a filter asks for. <c>text</c> is looked for in whole reasons.</summary>
internal sealed class LetterMatch(DeadLetterFilter filter, Func<LetterEntry, string> wholeReason)
{
    private readonly HashSet<Guid>? _ids = filter.Ids is null ? null : [.. filter.Ids];
    private readonly string? _below = filter.Subject?.EndsWith(".#", StringComparison.Ordinal) == true ? filter.Subject[..^2] : null;

    public bool Holds(LetterEntry entry)
    {
        var letter = entry.Summary;
        return (_ids?.Contains(letter.Id) ?? true)
            && (filter.State is null || letter.State == filter.State)
            && Is(filter.Endpoint, letter.Endpoint) && Is(filter.Code, letter.Code) && Is(filter.Key, letter.Key)
            && (filter.Subject is null || IsSubject(letter.Subject))
            && (filter.MessageId is null || letter.MessageId == filter.MessageId)
            && (filter.Job is null || letter.Job == filter.Job)
            && (filter.From is null || letter.LastAttempt >= filter.From)
            && (filter.To is null || letter.LastAttempt < filter.To)
            && (filter.Text is null || HasText(entry, filter.Text));
    }

    private static bool Is(string? wanted, string? value) => wanted is null || wanted == value;

    private bool IsSubject(string subject) => _below is null
        ? subject == filter.Subject
        : subject == _below || (subject.StartsWith(_below, StringComparison.Ordinal) && subject[_below.Length] == '.');

    private bool HasText(LetterEntry entry, string text) =>
        entry.Summary.Reason.Contains(text, StringComparison.OrdinalIgnoreCase)
        || (!entry.IsReasonWhole && wholeReason(entry).Contains(text, StringComparison.OrdinalIgnoreCase));
}
