using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Storage;

namespace Esb.IntegrationTests.Storage;

public sealed class PostgresWorkflowStoreTests : WorkflowStoreContract
{
    private TestSchema _schema = null!;

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();

    [Test, CancelAfter(60_000)]
    public async Task Instance_is_found_without_reading_the_keys_of_all_others(CancellationToken cancellationToken)
    {
        // As after its first minute: many keys, and nothing analyzed.
        await _schema.RunAsync("alter table workflow_key set (autovacuum_enabled = false)");
        await _schema.RunAsync(
            "insert into workflow_key (hash, instance_id, exclusive) "
                + "select md5(number::text), gen_random_uuid(), false from generate_series(1, 50000) as number"
        );
        await _schema.Store.Workflows.CommitAsync([WithKey("one")], cancellationToken);

        Assert.That(await _schema.RowsReadAsync("workflow_key", 50, FindAsync, cancellationToken), Is.LessThan(50 * 100));

        async Task FindAsync()
        {
            var takers = await _schema.Store.Workflows.FindTakersAsync("w", Guid.NewGuid(), ["none"], ["key-one"], cancellationToken);
            Assert.That(takers.Living, Has.Count.EqualTo(1));
        }
    }

    [Test, CancelAfter(60_000)]
    public async Task End_of_an_instance_does_not_read_the_keys_of_all_others(CancellationToken cancellationToken)
    {
        await _schema.RunAsync("vacuum analyze workflow_key");
        for (var time = 0; time < 20; time++) // as often as gives the statements plans of their own, made for a small table
            await BeginAndEndAsync();
        for (var group = 0; group < 10; group++)
            await CommitAsync([.. Enumerable.Range(0, 200).Select(number => WithKey($"{group}-{number}"))]);

        Assert.That(await _schema.RowsReadAsync("workflow_key", 50, BeginAndEndAsync, cancellationToken), Is.LessThan(50 * 100));

        async Task BeginAndEndAsync()
        {
            var begun = WithKey($"{Guid.NewGuid()}");
            await CommitAsync([begun]);
            await CommitAsync([Change(begun, WorkflowState.Completed)]);
        }

        async Task CommitAsync(IReadOnlyList<WorkflowCommit> commits) =>
            await _schema.Store.Workflows.CommitAsync(commits, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task Few_due_timers_are_claimed_without_reading_those_that_are_not(CancellationToken cancellationToken)
    {
        await _schema.RunAsync(
            "insert into timer (id, kind, target, due_at) select gen_random_uuid(), 'test.a', 'x', now() + interval '1 day' "
                + "from generate_series(1, 50000)"
        );
        await _schema.RunAsync("analyze timer");

        Assert.That(await _schema.RowsReadAsync("timer", 20, ClaimAsync, cancellationToken), Is.LessThan(20 * 100));

        async Task ClaimAsync()
        {
            var due = new StoredTimer(Guid.CreateVersion7(), "test.a", "y") { Delay = TimeSpan.FromMilliseconds(-5) };
            await _schema.Store.Timers.SetAsync([due], cancellationToken);
            var claimed = await _schema.Store.Timers.ClaimAsync(["test.a"], 500, TimeSpan.FromMinutes(1), cancellationToken);
            Assert.That(claimed.Timers.Select(timer => timer.Id), Is.EqualTo(new[] { due.Id }));
            Assert.That(claimed.Next, Is.LessThan(TimeSpan.FromSeconds(1)), "more may be due by then");
        }
    }

    [Test, CancelAfter(60_000)]
    public async Task Message_is_known_for_seven_days(CancellationToken cancellationToken)
    {
        var message = Guid.CreateVersion7();
        await _schema.Store.Workflows.CommitAsync([Begin("1") with { Inbox = message }], cancellationToken);

        var known = await IsKnownAfterAsync(TimeSpan.FromDays(6.9));
        var forgotten = !await IsKnownAfterAsync(TimeSpan.FromDays(7.1));

        Assert.That((known, forgotten), Is.EqualTo((true, true)));

        async Task<bool> IsKnownAfterAsync(TimeSpan age)
        {
            await _schema.RunAsync($"update workflow_inbox set received_at = now() - interval '{age.TotalSeconds} s'");
            await _schema.Store.Workflows.RemoveOldAsync(new Dictionary<string, TimeSpan>(), TimeSpan.FromDays(1), cancellationToken);
            return (await _schema.Store.Workflows.FindTakersAsync("w", message, [], [], cancellationToken)).IsKnown;
        }
    }

    private static WorkflowCommit WithKey(string number) =>
        Begin(number) with
        {
            Keys = [new WorkflowKey($"key-{number}", IsExclusive: false)],
        };
}
