using Esb.Core.Workflows;
using Esb.Storage;

namespace Esb.IntegrationTests.Storage;

public sealed class PostgresWorkflowStoreTests : WorkflowStoreContract
{
    private TestSchema _schema = null!;

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store;

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
        var before = await ReadRowsAsync();

        for (var time = 0; time < 50; time++)
        {
            var takers = await _schema.Store.Workflows.FindTakersAsync("w", Guid.NewGuid(), ["none"], ["key-one"], cancellationToken);
            Assert.That(takers.Living, Has.Count.EqualTo(1));
        }

        for (var (last, now) = (-1L, before); now != last; (last, now) = (now, await ReadRowsAsync()))
            await Task.Delay(1_500, cancellationToken); // statistics are told once a second
        Assert.That(await ReadRowsAsync() - before, Is.LessThan(50 * 100));
    }

    [Test, CancelAfter(60_000)]
    public async Task End_of_an_instance_does_not_read_the_keys_of_all_others(CancellationToken cancellationToken)
    {
        await _schema.RunAsync("vacuum analyze workflow_key");
        await BeginAndEndAsync(20); // as often as gives the statements plans of their own, made for a small table
        for (var group = 0; group < 10; group++)
            await CommitAsync([.. Enumerable.Range(0, 200).Select(number => WithKey($"{group}-{number}"))]);
        var before = await ReadRowsAsync();

        await BeginAndEndAsync(50);
        for (var (last, now) = (-1L, before); now != last; (last, now) = (now, await ReadRowsAsync()))
            await Task.Delay(1_500, cancellationToken); // statistics are told once a second

        Assert.That(await ReadRowsAsync() - before, Is.LessThan(50 * 100));

        async Task BeginAndEndAsync(int times)
        {
            for (var time = 0; time < times; time++)
            {
                var begun = WithKey($"{Guid.NewGuid()}");
                await CommitAsync([begun]);
                await CommitAsync([Change(begun, WorkflowState.Completed)]);
            }
        }

        async Task CommitAsync(IReadOnlyList<WorkflowCommit> commits) =>
            await _schema.Store.Workflows.CommitAsync(commits, cancellationToken);
    }

    [Test, CancelAfter(30_000)]
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

    private async Task<long> ReadRowsAsync() =>
        (
            await _schema.QueryAsync<long>(
                "select coalesce(seq_tup_read, 0) + (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) "
                    + "from pg_stat_user_tables t where relid = 'workflow_key'::regclass"
            )
        ).Single();

    private static WorkflowCommit WithKey(string number) =>
        Begin(number) with
        {
            Keys = [new WorkflowKey($"key-{number}", IsExclusive: false)],
        };
}
