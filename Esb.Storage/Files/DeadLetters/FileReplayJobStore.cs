using System.Collections.Concurrent;
using Esb.Core.Replays;
using Esb.Core.Storage;

namespace Esb.Storage.Files.DeadLetters;

/// <summary>Replay jobs among the events of their letters. One process has the folder, so that claims are kept in memory only; one whose owner falls silent ends all the same.</summary>
internal sealed class FileReplayJobStore(LetterLog log, FileDeadLetterStore letters, TimeProvider time) : IReplayJobStore
{
    private readonly ConcurrentDictionary<Guid, Worker> _workers = new();

    public Task<ReplayJob?> CreateAsync(ReplayJob job, CancellationToken cancellationToken)
    {
        var filter = job.Request.Letters with { State = job.Request.Letters.State ?? DeadLetterState.Open };
        var match = letters.Match(filter);
        return log.WriteAsync<ReplayJob?>(
            book =>
            {
                if (book.JobOf(job.Command) is { } known) return (known, []);
                var found = book.Newest(null).Where(entry => entry.Summary.State != DeadLetterState.Replaying && match.Holds(entry)).Select(entry => entry.Summary.Id);
                var taken = (job.Request.Limit is { } limit ? found.Reverse().Take(limit) : found).ToList();
                if (taken.Count == 0) return (null, []);
                var change = new LetterChange
                {
                    Letters = taken,
                    State = DeadLetterState.Replaying,
                    At = time.GetUtcNow(),
                    By = job.CreatedBy,
                    Job = job.Id,
                    To = job.Request.Redirect,
                    As = job.EditedId,
                };
                var made = job with { Total = taken.Count };
                return (made, [new LetterEvent { Job = made }.ToItem(), new LetterEvent { Change = change }.ToItem()]);
            },
            cancellationToken);
    }

    public Task<ReplayJob?> FindAsync(string command, CancellationToken cancellationToken) => log.ReadAsync(book => book.JobOf(command), cancellationToken);

    public Task<ReplayJob?> GetAsync(Guid id, CancellationToken cancellationToken) => log.ReadAsync(book => book.Jobs.GetValueOrDefault(id)?.Job, cancellationToken);

    public Task<IReadOnlyList<ReplayJob>> ListAsync(Guid? before, int limit, CancellationToken cancellationToken) =>
        log.ReadAsync<IReadOnlyList<ReplayJob>>(
            book =>
            [
                .. book.Jobs.Values.Select(entry => entry.Job).OfType<ReplayJob>()
                    .Where(job => before is null || job.Id.CompareTo(before.Value) < 0)
                    .OrderByDescending(job => job.Id).Take(Math.Clamp(limit, 1, 1000)),
            ],
            cancellationToken);

    public Task<ReplayJob?> ChangeAsync(Guid id, ReplayState state, OperatorDecision decision, CancellationToken cancellationToken) =>
        log.WriteAsync<ReplayJob?>(
            book =>
            {
                if (book.Jobs.GetValueOrDefault(id)?.Job is not { } job) return (null, []);
                if (job.IsOver || job.State == state) return (job, []);
                var now = time.GetUtcNow();
                var changed = job with { State = state, ChangedAt = now, ChangedBy = decision.By, Trouble = null };
                if (state == ReplayState.Running) changed = changed with { ReplayedBefore = job.Replayed, FailedBefore = job.Failed };
                return (changed, [new LetterEvent { Job = changed }.ToItem(), .. state == ReplayState.Cancelled ? LetGo(book, id, now, decision.By) : []]);
            },
            cancellationToken);

    public async Task<ReplayClaim?> ClaimAsync(string owner, CancellationToken cancellationToken)
    {
        var running = await log.ReadAsync(
            book => book.Jobs.Values.Select(entry => entry.Job).Where(job => job?.State == ReplayState.Running).OrderBy(job => job!.Id).ToList(), cancellationToken);
        return running.Find(job => TryTake(job!.Id, owner)) is { } claimed ? new ReplayClaim(claimed, owner) : null;
    }

    public Task<ReplayJob?> RenewAsync(ReplayClaim claim, string? trouble, CancellationToken cancellationToken) =>
        log.WriteAsync<ReplayJob?>(
            book =>
            {
                if (book.Jobs[claim.Job.Id].Job is not { } job || _workers.GetValueOrDefault(job.Id)?.Owner != claim.Owner) return (null, []);
                _workers[job.Id] = new Worker(claim.Owner, time.GetTimestamp());
                if (job.Trouble == trouble || job.State != ReplayState.Running) return (job, []);
                var renewed = job with { Trouble = trouble };
                return (renewed, [new LetterEvent { Job = renewed }.ToItem()]);
            },
            cancellationToken);

    public Task<IReadOnlyList<DeadLetterSummary>> NextAsync(ReplayClaim claim, int limit, CancellationToken cancellationToken) =>
        log.ReadAsync<IReadOnlyList<DeadLetterSummary>>(book => [.. book.Pending(claim.Job.Id).Take(limit)], cancellationToken);

    public Task MarkAsync(ReplayClaim claim, IReadOnlyList<Guid> sent, CancellationToken cancellationToken) =>
        log.WriteAsync<bool>(
            book =>
            {
                var job = book.Jobs[claim.Job.Id].Job!;
                var marked = sent.Where(id => book.Letters[id].Summary is { State: DeadLetterState.Replaying } letter && letter.Job == job.Id).ToList();
                if (marked.Count == 0) return (true, []);
                var change = new LetterChange { Letters = marked, State = DeadLetterState.Replayed, At = time.GetUtcNow(), By = job.CreatedBy };
                var counted = job with { Replayed = job.Replayed + marked.Count };
                return (true, [new LetterEvent { Change = change }.ToItem(), new LetterEvent { Job = counted }.ToItem()]);
            },
            cancellationToken);

    public async Task ReleaseAsync(ReplayClaim claim, ReplayState state, string? trouble, CancellationToken cancellationToken)
    {
        await log.WriteAsync<bool>(
            book =>
            {
                if (book.Jobs[claim.Job.Id].Job is not { State: ReplayState.Running } job || (job.State == state && job.Trouble == trouble)) return (true, []);
                var changedAt = state == ReplayState.Running ? job.ChangedAt : time.GetUtcNow();
                var released = job with { State = state, Trouble = trouble, ChangedAt = changedAt, ChangedBy = state == ReplayState.Running ? job.ChangedBy : null };
                return (true, [new LetterEvent { Job = released }.ToItem()]);
            },
            cancellationToken);
        if (_workers.TryGetValue(claim.Job.Id, out var worker) && worker.Owner == claim.Owner) _workers.TryRemove(KeyValuePair.Create(claim.Job.Id, worker));
    }

    private bool TryTake(Guid job, string owner)
    {
        var worker = new Worker(owner, time.GetTimestamp());
        return _workers.TryAdd(job, worker)
            || (_workers.TryGetValue(job, out var earlier) && time.GetElapsedTime(earlier.HeardAt) > ReplayClaim.Patience && _workers.TryUpdate(job, worker, earlier));
    }

    private static IEnumerable<StoredItem> LetGo(LetterBook book, Guid job, DateTimeOffset now, string by)
    {
        var letters = book.Pending(job).Select(letter => letter.Id).ToList();
        if (letters.Count > 0) yield return new LetterEvent { Change = new LetterChange { Letters = letters, State = DeadLetterState.Open, At = now, By = by } }.ToItem();
    }

    private sealed record Worker(string Owner, long HeardAt);
}
