using Esb.Core.Topics;

namespace Esb.Topics;

/// <summary>Counts unroutable messages by subject.</summary>
internal static class UnroutableSubjects
{
    public static IReadOnlyList<UnroutableSubject> Of(IEnumerable<(string Subject, DateTimeOffset CreatedAt)> messages) =>
        [
            .. messages
                .GroupBy(message => message.Subject, StringComparer.Ordinal)
                .Select(group => new UnroutableSubject(group.Key, group.Count(), group.Min(message => message.CreatedAt)))
                .OrderByDescending(subject => subject.Count)
                .ThenBy(subject => subject.Subject, StringComparer.Ordinal),
        ];
}
