using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage;
using Esb.Storage.DeadLetters;
using NUnit.Framework;
using static Esb.IntegrationTests.Storage.SomeLetters;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store lets go of, and what it keeps.</summary>
public abstract class LetterRetentionContract
{
    private static readonly OperatorDecision Decision = new("ada", null);

    private Store _store = null!;

    private protected abstract Task<Store> OpenAsync();

    private protected abstract Task<Store> ReopenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task Only_letters_that_were_replayed_or_discarded_and_jobs_without_letters_are_removed(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(6, cancellationToken);
        var (replayed, discarded, cameBack, pending, open) = (letters[0], letters[1], letters[2], letters[3], letters[4]);
        var finished = await FinishAsync(replayed, cancellationToken);
        var named = await FinishAsync(cameBack, cancellationToken);
        await _store.DeadLetters.AddAsync(cameBack.Again(), cancellationToken);
        var running = await MakeJobAsync(pending, cancellationToken);
        await _store.DeadLetters.DiscardAsync(new() { Ids = [discarded.Id] }, Decision, 1, cancellationToken);

        var early = await _store.LetterRetention.RemoveSettledAsync(TimeProvider.System.GetUtcNow().AddHours(-1), cancellationToken);
        var removed = await _store.LetterRetention.RemoveSettledAsync(TimeProvider.System.GetUtcNow().AddHours(1), cancellationToken);
        var again = await _store.LetterRetention.RemoveSettledAsync(TimeProvider.System.GetUtcNow().AddHours(1), cancellationToken);
        _store = await ReopenAsync();

        Assert.That((early, removed, again), Is.EqualTo((new SettledLetters(0, 0), new SettledLetters(2, 1), new SettledLetters(0, 0))));
        Assert.That(
            (await FindAsync(cancellationToken)).Select(letter => letter.Id),
            Is.EquivalentTo([cameBack.Id, pending.Id, open.Id, letters[5].Id])
        );
        Assert.That(
            (await _store.ReplayJobs.ListAsync(null, 10, cancellationToken)).Select(job => job.Id),
            Is.EquivalentTo([named.Id, running.Id])
        );
        Assert.That(
            (
                await _store.ReplayJobs.GetAsync(finished.Id, cancellationToken),
                await _store.DeadLetters.GetAsync(replayed.Id, cancellationToken)
            ),
            Is.EqualTo(((ReplayJob?)null, (KeptDeadLetter?)null))
        );
        Assert.That((await _store.ReplayJobs.GetAsync(running.Id, cancellationToken))!.Total, Is.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task Letter_that_comes_back_after_it_was_removed_is_kept_anew(CancellationToken cancellationToken)
    {
        var letter = (await KeepAsync(1, cancellationToken))[0];
        await FinishAsync(letter, cancellationToken);
        await _store.LetterRetention.RemoveSettledAsync(TimeProvider.System.GetUtcNow().AddHours(1), cancellationToken);

        await _store.DeadLetters.AddAsync(letter.Again(), cancellationToken);
        _store = await ReopenAsync();

        Assert.That(
            (await FindAsync(cancellationToken)).Select(kept => (kept.Id, kept.State, kept.Replays, kept.Job)),
            Is.EqualTo([(letter.Id, DeadLetterState.Open, 0, (Guid?)null)])
        );
    }

    private async Task<IReadOnlyList<DeadLetter>> KeepAsync(int count, CancellationToken cancellationToken)
    {
        var letters = Enumerable.Range(0, count).Select(_ => Letter()).ToList();
        foreach (var letter in letters)
            await _store.DeadLetters.AddAsync(letter, cancellationToken);
        return letters;
    }

    private async Task<ReplayJob> MakeJobAsync(DeadLetter letter, CancellationToken cancellationToken) =>
        (await _store.ReplayJobs.CreateAsync(Job(new ReplayRequest { Letters = new() { Ids = [letter.Id] } }), cancellationToken))!;

    private async Task<ReplayJob> FinishAsync(DeadLetter letter, CancellationToken cancellationToken)
    {
        var job = await MakeJobAsync(letter, cancellationToken);
        var claim = (await _store.ReplayJobs.ClaimAsync("host", cancellationToken))!;
        await _store.ReplayJobs.MarkAsync(claim, [letter.Id], cancellationToken);
        await _store.ReplayJobs.ReleaseAsync(claim, ReplayState.Completed, null, cancellationToken);
        return job;
    }

    private async Task<List<DeadLetterSummary>> FindAsync(CancellationToken cancellationToken) =>
        await _store.DeadLetters.FindAsync(new DeadLetterQuery(), cancellationToken).ToListAsync(cancellationToken);
}
