using Esb.Topics;

namespace Esb.Tests.Topics;

[CancelAfter(30_000)]
public sealed class LaneTurnsTests
{
    [Test]
    public async Task Work_of_one_turn_waits_for_what_was_begun_before_it_and_other_work_does_not(CancellationToken cancellationToken)
    {
        var turns = new LaneTurns(most: 8);
        var first = new TaskCompletionSource();
        var begun = new List<string>();

        await turns.BeginAsync("a", () => Begin("a1", first.Task), cancellationToken);
        await turns.BeginAsync("a", () => Begin("a2", Task.CompletedTask), cancellationToken);
        await turns.BeginAsync("b", () => Begin("b1", Task.CompletedTask), cancellationToken);
        await turns.BeginAsync(null, () => Begin("none", Task.CompletedTask), cancellationToken);

        Assert.That(begun, Is.EqualTo(new[] { "a1", "b1", "none" }));
        first.SetResult();
        await turns.EndedAsync();
        Assert.That(begun, Is.EqualTo(new[] { "a1", "b1", "none", "a2" }));

        Task Begin(string name, Task until)
        {
            lock (begun)
                begun.Add(name);
            return until;
        }
    }

    [Test]
    public async Task Nothing_more_begins_than_there_are_places(CancellationToken cancellationToken)
    {
        var turns = new LaneTurns(most: 1);
        var first = new TaskCompletionSource();
        await turns.BeginAsync(null, () => first.Task, cancellationToken);

        var second = turns.BeginAsync(null, () => Task.CompletedTask, cancellationToken);

        Assert.That(second.IsCompleted, Is.False);
        first.SetResult();
        await second;
        await turns.EndedAsync();
    }

    [Test]
    public async Task What_is_behind_work_that_failed_in_its_turn_never_begins(CancellationToken cancellationToken)
    {
        var turns = new LaneTurns(most: 8);
        var others = 0;

        await turns.BeginAsync("a", () => Task.FromException(new InvalidOperationException("broken")), cancellationToken);
        await turns.BeginAsync("a", () => Task.FromException(new AssertionException("begun")), cancellationToken);
        await turns.BeginAsync("b", () => Task.FromResult(Interlocked.Increment(ref others)), cancellationToken);

        Assert.That(turns.EndedAsync, Throws.InvalidOperationException.With.Message.EqualTo("broken"));
        Assert.That(others, Is.EqualTo(1));
    }

    [Test]
    public async Task Work_that_was_cancelled_is_no_failure_and_ends_its_turn(CancellationToken cancellationToken)
    {
        var turns = new LaneTurns(most: 8);

        await turns.BeginAsync("a", () => Task.FromCanceled(new CancellationToken(canceled: true)), cancellationToken);
        await turns.BeginAsync("a", () => Task.FromException(new AssertionException("begun")), cancellationToken);

        await turns.EndedAsync();
    }
}
