using Esb.Core.Storage;
using Esb.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every keeper of failed attempts promises.</summary>
public abstract class AttemptStoreContract
{
    private static readonly DateTimeOffset Now = new(2026, 11, 21, 12, 0, 0, TimeSpan.Zero);

    private readonly Guid _message = Guid.NewGuid();
    private Store _store = null!;

    private protected abstract Task<Store> OpenAsync();

    private protected abstract Task<Store> ReopenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task Attempts_come_back_whole_in_the_next_process(CancellationToken cancellationToken)
    {
        var kept = Kept(2, dueAt: Now.AddSeconds(60));
        await _store.Attempts.KeepAsync("a", _message, Kept(1), cancellationToken);
        await _store.Attempts.KeepAsync("a", _message, kept, cancellationToken);

        _store = await ReopenAsync();
        var found = await _store.Attempts.FindAsync("a", _message, cancellationToken);

        Assert.That((found!.Count, found.DueAt), Is.EqualTo((2, kept.DueAt)));
        Assert.That(found.Failures, Is.EqualTo(kept.Failures));
    }

    [Test, CancelAfter(60_000)]
    public async Task Attempts_belong_to_one_message_at_one_endpoint_until_they_are_removed(CancellationToken cancellationToken)
    {
        var other = Guid.NewGuid();
        await _store.Attempts.KeepAsync("a", _message, Kept(1), cancellationToken);
        await _store.Attempts.KeepAsync("b", _message, Kept(2), cancellationToken);
        await _store.Attempts.KeepAsync("a", other, Kept(3), cancellationToken);
        await _store.Attempts.RemoveAsync("a", _message, cancellationToken);
        await _store.Attempts.RemoveAsync("a", Guid.NewGuid(), cancellationToken);

        Assert.That(
            (
                await CountAsync("a", _message, cancellationToken),
                await CountAsync("b", _message, cancellationToken),
                await CountAsync("a", other, cancellationToken)
            ),
            Is.EqualTo(((int?)null, (int?)2, (int?)3))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task What_counts_fewer_attempts_comes_from_a_host_that_lost_the_message(CancellationToken cancellationToken)
    {
        await _store.Attempts.KeepAsync("a", _message, Kept(3), cancellationToken);
        await _store.Attempts.KeepAsync("a", _message, Kept(2), cancellationToken);

        Assert.That(await CountAsync("a", _message, cancellationToken), Is.EqualTo(3));
    }

    [Test, CancelAfter(60_000)]
    public async Task Marks_of_a_suspect_and_its_failed_attempts_leave_each_other_alone(CancellationToken cancellationToken)
    {
        await _store.Attempts.KeepAsync("a", _message, Kept(1), cancellationToken);
        await _store.CrashMarks.AddAsync("a", _message, cancellationToken);
        await _store.CrashMarks.RemoveAsync("a", _message, cancellationToken);
        var attempts = await CountAsync("a", _message, cancellationToken);
        await _store.CrashMarks.AddAsync("a", _message, cancellationToken);
        await _store.Attempts.RemoveAsync("a", _message, cancellationToken);
        var marks = await _store.CrashMarks.AddAsync("a", _message, cancellationToken);

        Assert.That((attempts, marks, await CountAsync("a", _message, cancellationToken)), Is.EqualTo(((int?)1, 2, (int?)null)));
    }

    private async Task<int?> CountAsync(string endpoint, Guid message, CancellationToken cancellationToken) =>
        (await _store.Attempts.FindAsync(endpoint, message, cancellationToken))?.Count;

    private static KeptAttempts Kept(int count, DateTimeOffset? dueAt = null) =>
        new(
            count,
            [
                .. Enumerable
                    .Range(0, count)
                    .Select(number => new FailedAttempt(Now.AddSeconds(number), "ESB-HTTP-STATUS", $"It said „{number}“.")),
            ],
            dueAt
        );
}
