using Esb.Core.Storage;
using Esb.Storage.DeadLetters;

namespace Esb.Storage.Files.DeadLetters;

/// <summary>Lets go of settled letters in segments. Their bytes leave the disk once less than half of a segment still counts.</summary>
internal sealed class FileLetterRetention(LetterLog log) : ILetterRetention
{
    private const int BatchSize = 1000;

    public async Task<SettledLetters> RemoveSettledAsync(DateTimeOffset before, CancellationToken cancellationToken) => new(
        await RemoveAsync(book => SettledLetters(book, before), cancellationToken),
        await RemoveAsync(book => FinishedJobs(book, before), cancellationToken));

    // In batches: whoever keeps a letter meanwhile waits for one of them, not for all.
    private async Task<long> RemoveAsync(Func<LetterBook, IEnumerable<Guid>> choose, CancellationToken cancellationToken)
    {
        for (var removed = 0L; ;)
        {
            var batch = await log.RemoveAsync(book => [.. choose(book).Take(BatchSize)], cancellationToken);
            removed += batch;
            if (batch < BatchSize) return removed;
        }
    }

    private static IEnumerable<Guid> SettledLetters(LetterBook book, DateTimeOffset before) => book.Letters.Values
        .Where(entry => entry.Summary.State is DeadLetterState.Replayed or DeadLetterState.Discarded && entry.Summary.ChangedAt < before)
        .Select(entry => entry.Summary.Id);

    private static IEnumerable<Guid> FinishedJobs(LetterBook book, DateTimeOffset before)
    {
        var named = book.Letters.Values.Select(entry => entry.Summary.Job).OfType<Guid>().ToHashSet();
        return book.Jobs.Values.Select(entry => entry.Job)
            .Where(job => job is { IsOver: true } && (job.ChangedAt ?? job.CreatedAt) < before && !named.Contains(job.Id))
            .Select(job => job!.Id);
    }
}
