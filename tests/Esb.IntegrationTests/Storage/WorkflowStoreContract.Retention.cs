using Esb.Core.Workflows;

namespace Esb.IntegrationTests.Storage;

// What leaves the store, and when.
public abstract partial class WorkflowStoreContract
{
    [Test, CancelAfter(60_000)]
    public async Task Ended_instances_leave_after_their_retention_with_their_history(CancellationToken cancellationToken)
    {
        var (ended, living) = (Begin("1"), Begin("2"));
        await CommitAsync(ended, cancellationToken);
        await CommitAsync(living, cancellationToken);
        await CommitAsync(Change(ended, WorkflowState.Completed), cancellationToken);

        await RemoveOldAsync(TimeSpan.FromDays(1), cancellationToken);
        var kept = await _store.Workflows.FindAsync(ended.Instance!.Id, cancellationToken);
        var removed = await RemoveOldAsync(TimeSpan.FromSeconds(-5), cancellationToken);

        Assert.That(kept, Is.Not.Null);
        Assert.That(removed, Is.EqualTo(1));
        Assert.That(await _store.Workflows.HistoryAsync(ended.Instance.Id, 0, 10, cancellationToken), Is.Empty);
        Assert.That(await _store.Workflows.FindAsync(living.Instance!.Id, cancellationToken), Is.Not.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task Ended_instances_of_a_workflow_that_is_gone_leave_as_well(CancellationToken cancellationToken)
    {
        var (known, gone) = (Begin("1"), Begin("2"));
        gone = gone with { Workflow = "gone", Instance = gone.Instance! with { Workflow = "gone" } };
        foreach (var begun in new[] { known, gone })
        {
            await CommitAsync(begun, cancellationToken);
            await CommitAsync(Change(begun, WorkflowState.Completed) with { Workflow = begun.Workflow }, cancellationToken);
        }

        var removed = await _store.Workflows.RemoveOldAsync(
            new Dictionary<string, TimeSpan> { ["w"] = TimeSpan.FromDays(1) },
            otherwise: TimeSpan.FromSeconds(-5),
            cancellationToken
        );

        Assert.That(removed, Is.EqualTo(1));
        Assert.That(await _store.Workflows.FindAsync(known.Instance!.Id, cancellationToken), Is.Not.Null);
        Assert.That(await _store.Workflows.FindAsync(gone.Instance!.Id, cancellationToken), Is.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task Definitions_leave_when_nothing_needs_them(CancellationToken cancellationToken)
    {
        await _store.Workflows.KeepDefinitionAsync(new StoredDefinition("hash", "w", "{}"), cancellationToken);
        await _store.Workflows.KeepDefinitionAsync(new StoredDefinition("old", "w", "{}"), cancellationToken);
        await CommitAsync(Begin("1"), cancellationToken); // with the definition "hash"

        await RemoveOldAsync(TimeSpan.FromDays(1), cancellationToken);
        var kept = await _store.Workflows.FindDefinitionAsync("old", cancellationToken);
        await _store.Workflows.RemoveOldAsync(
            new Dictionary<string, TimeSpan>(),
            otherwise: -TimeSpan.FromDays(7) - TimeSpan.FromSeconds(5),
            cancellationToken
        );

        Assert.That(kept, Is.Not.Null);
        Assert.That(await _store.Workflows.FindDefinitionAsync("old", cancellationToken), Is.Null);
        Assert.That(await _store.Workflows.FindDefinitionAsync("hash", cancellationToken), Is.Not.Null, "an instance lives");
    }

    [Test, CancelAfter(60_000)]
    public async Task Large_values_are_stored_once_and_leave_when_they_are_not_used(CancellationToken cancellationToken)
    {
        var (large, other) = (new byte[3_000_000], "other"u8.ToArray());
        Random.Shared.NextBytes(large);
        var begun = Begin("1");
        begun = begun with
        {
            Instance = begun.Instance! with
            {
                LargeValues = new Dictionary<string, ReadOnlyMemory<byte>> { ["a"] = large, ["b"] = other },
            },
            NewValues = ["a", "b"],
        };
        await CommitAsync(begun, cancellationToken);
        var found = await _store.Workflows.FindAsync(begun.Instance!.Id, cancellationToken);

        var unchanged = Change(begun);
        await CommitAsync(unchanged, cancellationToken);
        var fewer = Change(unchanged) with { UnusedValues = ["a"] };
        await CommitAsync(fewer, cancellationToken);
        var rest = await _store.Workflows.FindAsync(begun.Instance.Id, cancellationToken);
        var repeated = await CommitAsync(Change(fewer) with { NewValues = ["b"] }, cancellationToken); // stored already

        Assert.Multiple(() =>
        {
            Assert.That(found!.LargeValues.Keys, Is.EquivalentTo(new[] { "a", "b" }));
            Assert.That(found.LargeValues["a"].ToArray(), Is.EqualTo(large));
            Assert.That(rest!.Version, Is.EqualTo(3));
            Assert.That(rest.LargeValues.Single().Value.ToArray(), Is.EqualTo(other));
            Assert.That(repeated.Outcome, Is.EqualTo(CommitOutcome.Committed));
        });

        await CommitAsync(Change(Change(fewer), WorkflowState.Completed), cancellationToken);
        await RemoveOldAsync(TimeSpan.FromSeconds(-5), cancellationToken);
        await CommitAsync(begun with { NewValues = [] }, cancellationToken);
        Assert.That((await _store.Workflows.FindAsync(begun.Instance.Id, cancellationToken))!.LargeValues, Is.Empty, "left with it");
    }

    [Test, CancelAfter(60_000)]
    public async Task Many_ended_instances_leave_in_several_transactions(CancellationToken cancellationToken)
    {
        const int Many = 1_100; // of 500 at most
        var begun = Enumerable.Range(0, Many).Select(number => Begin($"{number}")).ToList();
        await _store.Workflows.CommitAsync(begun, cancellationToken);
        await _store.Workflows.CommitAsync([.. begun.Skip(1).Select(one => Change(one, WorkflowState.Completed))], cancellationToken);

        var removed = await RemoveOldAsync(TimeSpan.FromSeconds(-5), cancellationToken);

        var left = await _store.Workflows.ListAsync(new WorkflowQuery { Limit = 10 }, cancellationToken);
        Assert.That(removed, Is.EqualTo(Many - 1));
        Assert.That(left.Select(instance => instance.Id), Is.EqualTo(new[] { begun[0].Instance!.Id }));
        Assert.That(await _store.Workflows.HistoryAsync(begun[0].Instance!.Id, 0, 10, cancellationToken), Has.Count.EqualTo(1));
        Assert.That(await _store.Workflows.HistoryAsync(begun[^1].Instance!.Id, 0, 10, cancellationToken), Is.Empty);
    }

    private Task<long> RemoveOldAsync(TimeSpan retention, CancellationToken cancellationToken) =>
        _store.Workflows.RemoveOldAsync(new Dictionary<string, TimeSpan> { ["w"] = retention }, TimeSpan.FromDays(30), cancellationToken);
}
