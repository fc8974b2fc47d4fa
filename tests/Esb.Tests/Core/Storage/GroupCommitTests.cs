using System.Data.Common;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Tests.Storage;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class GroupCommitTests
{
    private readonly List<IReadOnlyList<int>> _groups = [];
    private readonly TaskCompletionSource _isBegun = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _firstIsStored = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Test, CancelAfter(30_000)]
    public async Task Items_that_come_while_a_group_is_stored_are_the_next_group(CancellationToken cancellationToken)
    {
        await using var commits = new GroupCommit<int, string>(StoreAsync, IsRefusal);

        var results = await Task.WhenAll(await BringAsync(commits, [1, 2, 3])).WaitAsync(cancellationToken);

        Assert.That(results, Is.EqualTo(new[] { "1", "2", "3" }));
        Assert.That(_groups, Is.EqualTo(new[] { new[] { 1 }, [2, 3] }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Large_items_do_not_share_a_group(CancellationToken cancellationToken)
    {
        await using var commits = new GroupCommit<int, string>(StoreAsync, IsRefusal, sizeOf: _ => 40L << 20);

        await Task.WhenAll(await BringAsync(commits, [1, 2, 3])).WaitAsync(cancellationToken);

        Assert.That(_groups, Has.Count.EqualTo(3));
    }

    [Test, CancelAfter(30_000)]
    public async Task Item_that_the_database_refuses_stops_none_of_the_others(CancellationToken cancellationToken)
    {
        await using var commits = new GroupCommit<int, string>(
            items => items.Contains(2) ? throw Failure(isTransient: false) : StoreAsync(items),
            IsRefusal
        );
        var brought = await BringAsync(commits, [1, 2, 3]);

        var refused = Assert.ThrowsAsync<EsbException>(() => brought[1].WaitAsync(cancellationToken))!;

        Assert.That((await brought[0], await brought[2], refused.Code), Is.EqualTo(("1", "3", "ESB-STORE-AWAY")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Item_that_cannot_be_stored_stops_none_of_the_others(CancellationToken cancellationToken)
    {
        await using var commits = new GroupCommit<int, string>(items =>
            items.Contains(2) ? throw new ArgumentException("too long") : StoreAsync(items)
        );
        var brought = await BringAsync(commits, [1, 2, 3]);

        var refused = Assert.ThrowsAsync<EsbException>(() => brought[1].WaitAsync(cancellationToken))!;

        Assert.That((await brought[0], await brought[2], refused.Code), Is.EqualTo(("1", "3", "ESB-STORE-WRITE")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Database_that_is_away_is_not_asked_for_each_item(CancellationToken cancellationToken)
    {
        var asked = 0;
        await using var commits = new GroupCommit<int, string>(
            async items =>
            {
                asked++;
                _isBegun.TrySetResult();
                await _firstIsStored.Task;
                throw Failure(isTransient: true);
            },
            IsRefusal
        );
        var brought = await BringAsync(commits, [1, 2, 3]);

        foreach (var one in brought)
            Assert.ThrowsAsync<EsbException>(() => one.WaitAsync(cancellationToken));

        Assert.That(asked, Is.EqualTo(2));
    }

    [Test, CancelAfter(30_000)]
    public async Task What_waits_at_the_end_is_committed_and_what_comes_later_is_refused(CancellationToken cancellationToken)
    {
        var commits = new GroupCommit<int, string>(StoreAsync, IsRefusal, maxGroup: 1);
        var brought = await BringAsync(commits, [1, 2, 3]);

        await commits.DisposeAsync();
        var refused = Assert.ThrowsAsync<EsbException>(() => commits.CommitAsync(4, cancellationToken))!;

        Assert.That(await Task.WhenAll(brought), Is.EqualTo(new[] { "1", "2", "3" }));
        Assert.That(refused.Code, Is.EqualTo("ESB-STORE-AWAY"));
    }

    // The others come while the first one is being stored.
    private async Task<IReadOnlyList<Task<string>>> BringAsync(GroupCommit<int, string> commits, IReadOnlyList<int> items)
    {
        var first = commits.CommitAsync(items[0]);
        await _isBegun.Task;
        Task<string>[] brought = [first, .. items.Skip(1).Select(item => commits.CommitAsync(item))];
        _firstIsStored.SetResult();
        return brought;
    }

    private async Task<IReadOnlyList<string>> StoreAsync(IReadOnlyList<int> items)
    {
        _groups.Add([.. items]);
        _isBegun.TrySetResult();
        await _firstIsStored.Task;
        return [.. items.Select(item => $"{item}")];
    }

    private static bool IsRefusal(EsbException failure) => failure.InnerException is DbException { IsTransient: false };

    private static EsbException Failure(bool isTransient) =>
        new("ESB-STORE-AWAY", "refused", FaultKind.Unavailable, new DatabaseFailure(isTransient));

    private sealed class DatabaseFailure(bool isTransient) : DbException
    {
        public override bool IsTransient => isTransient;
    }
}
