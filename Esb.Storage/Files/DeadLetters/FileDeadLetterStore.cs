using System.Runtime.CompilerServices;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.DeadLetters;

namespace Esb.Storage.Files.DeadLetters;

/// <summary>Dead letters in segments. What is in memory is a small entry for each; the letters stay on disk.</summary>
internal sealed class FileDeadLetterStore(LetterLog log, TimeProvider time) : IDeadLetterStore
{
    public Task AddAsync(DeadLetter letter, CancellationToken cancellationToken) =>
        log.WriteAsync(
            book =>
            {
                var items = book.Letters.TryGetValue(letter.Id, out var known) ? FailAgain(book, known, letter) : Keep(book, letter);
                return (0, items);
            },
            cancellationToken);

    public async IAsyncEnumerable<DeadLetterSummary> FindAsync(DeadLetterQuery query, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var match = Match(query.Filter);
        var limit = Math.Clamp(query.Limit, 1, 1000);
        var found = await log.ReadAsync(
            book => book.Newest(query.Before).Where(match.Holds).Take(limit).Select(entry => entry.Summary).ToList(), cancellationToken);
        foreach (var letter in found) yield return letter;
    }

    public Task<KeptDeadLetter?> GetAsync(Guid id, CancellationToken cancellationToken) =>
        log.ReadAsync(
            book => book.Letters.TryGetValue(id, out var entry) && Read(entry) is var (letter, body) ? letter.With(body) : null,
            cancellationToken);

    public Task<IReadOnlyList<DeadLetterGroup>> GroupAsync(DeadLetterFilter filter, bool byCause, CancellationToken cancellationToken)
    {
        var match = Match(filter);
        return log.ReadAsync<IReadOnlyList<DeadLetterGroup>>(
            book =>
            [
                .. book.Letters.Values.Where(match.Holds)
                    .GroupBy(entry => (entry.Summary.Endpoint, entry.Summary.Code, Cause: byCause ? entry.Cause : null))
                    .Select(group => new DeadLetterGroup(
                        group.Key.Endpoint, group.Key.Code, group.Key.Cause, group.LongCount(),
                        group.Min(entry => entry.Summary.LastAttempt), group.Max(entry => entry.Summary.LastAttempt)))
                    .OrderByDescending(group => group.Count).ThenBy(group => group.Endpoint, StringComparer.Ordinal).ThenBy(group => group.Code, StringComparer.Ordinal),
            ],
            cancellationToken);
    }

    public Task<IReadOnlyList<DeadLetterSummary>> DiscardAsync(DeadLetterFilter filter, OperatorDecision decision, int limit, CancellationToken cancellationToken)
    {
        var match = Match(filter with { State = filter.State ?? DeadLetterState.Open });
        return log.WriteAsync<IReadOnlyList<DeadLetterSummary>>(
            book =>
            {
                var entries = book.Newest(null).Where(entry => entry.Summary.State is not (DeadLetterState.Replaying or DeadLetterState.Discarded) && match.Holds(entry))
                    .Take(Math.Clamp(limit, 1, 1000)).ToList();
                if (entries.Count == 0) return ([], []);
                var change = new LetterChange
                {
                    Letters = [.. entries.Select(entry => entry.Summary.Id)],
                    State = DeadLetterState.Discarded,
                    At = time.GetUtcNow(),
                    By = decision.By,
                    Note = decision.Reason,
                };
                return ([.. entries.Select(entry => change.Apply(entry.Summary))], [new LetterEvent { Change = change }.ToItem()]);
            },
            cancellationToken);
    }

    /// <summary>What a filter means here.</summary>
    public LetterMatch Match(DeadLetterFilter filter) => new(filter, entry => Read(entry)?.Letter.Reason ?? "");

    private (StoredDeadLetter Letter, ReadOnlyMemory<byte> Body)? Read(LetterEntry entry) =>
        log.ReadAt(entry.Written.Position, entry.Summary.Id) is { } item
            ? (LetterEvent.Read(item).Letter!.As(entry.Summary), item.Bytes.GetValueOrDefault())
            : null;

    private static IReadOnlyList<StoredItem> Keep(LetterBook book, DeadLetter letter)
    {
        var stored = StoredDeadLetter.From(letter) with { Number = book.NextNumber };
        var item = new LetterEvent { Letter = stored }.ToItem(letter.Message.Body.Bytes);
        return book.SentAs(letter.Message.Id, letter.Endpoint) is { Job: { } job } ? [item, .. CountFailure(book, job, isSent: false)] : [item];
    }

    private IReadOnlyList<StoredItem> FailAgain(LetterBook book, LetterEntry known, DeadLetter failure)
    {
        if (!IsAnother(failure, known.Summary) || Read(known) is not var (letter, body)) return [];
        var stored = letter.After(failure, time.GetUtcNow()) with { Number = book.NextNumber };
        var item = new LetterEvent { Letter = stored }.ToItem(body);
        return known.Summary is { State: DeadLetterState.Replaying or DeadLetterState.Replayed, Job: { } job }
            ? [item, .. CountFailure(book, job, isSent: known.Summary.State == DeadLetterState.Replaying)]
            : [item];
    }

    // What comes with the time of the last failure is that failure again. Of one that was replayed any other time is another failure: clocks can be set back.
    private static bool IsAnother(DeadLetter failure, DeadLetterSummary known) => known.State is DeadLetterState.Replaying or DeadLetterState.Replayed
        ? failure.LastAttempt != known.LastAttempt
        : failure.LastAttempt > known.LastAttempt;

    // One that comes back before it was marked has been sent: it is counted here, because it will not be marked any more.
    private static IEnumerable<StoredItem> CountFailure(LetterBook book, Guid id, bool isSent)
    {
        if (!book.Jobs.TryGetValue(id, out var entry) || entry.Job is not { } job) yield break;
        ReplayJob counted = job with { Failed = job.Failed + 1, Replayed = isSent ? job.Replayed + 1 : job.Replayed };
        yield return new LetterEvent { Job = counted }.ToItem();
    }
}
