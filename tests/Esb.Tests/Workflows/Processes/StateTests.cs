using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class StateTests : IDisposable
{
    private readonly KeptMarks _marks = new();
    private CompiledProcesses? _processes;
    private Task? _arrived;

    public void Dispose() => _processes?.Dispose();

    [
        TestCase("""{ "next": "a\"b" }""", "a\"b"),
        TestCase("""{ "next": 7.5 }""", 7.5),
        TestCase("""{ "next": true }""", true),
        TestCase("""{ "next": "7" }""", "7")
    ]
    public async Task Value_of_one_message_is_there_for_the_next(string body, object expected, CancellationToken cancellationToken)
    {
        Compile(
            """[{ "set": { "properties": { "before": { "state": "since" } } } }, { "set": { "state": { "since": { "jsonpath": "$.next" } } } }, { "set": { "properties": { "after": { "state": "since" } } } }]"""
        );

        var first = await RunAsync(body, cancellationToken);
        var second = await RunAsync("{}", cancellationToken);
        var third = await RunAsync("{}", cancellationToken);

        Assert.That(
            (first.GetProperty("before"), first.GetProperty("after"), second.GetProperty("before")),
            Is.EqualTo(((object?)null, expected, expected))
        );
        Assert.That((third.GetProperty("before"), _marks.Count), Is.EqualTo(((object?)null, 0)), "no value removes it");
    }

    [Test]
    public async Task Value_of_a_process_that_fails_is_not_kept(CancellationToken cancellationToken)
    {
        Compile(
            """[{ "set": { "state": { "since": { "jsonpath": "$.next" } } } }, { "choose": { "when": [{ "if": { "jsonpath": "$.bad" }, "steps": [{ "fail": "no" }] }] } }]"""
        );

        await RunAsync("""{ "next": 1 }""", cancellationToken);
        Assert.ThrowsAsync<EsbException>(() => RunAsync("""{ "next": 2, "bad": true }""", cancellationToken));

        Assert.That(await _marks.FindAsync("an-endpoint", "state since", cancellationToken), Is.EqualTo("1"));
    }

    [Test]
    public async Task Value_is_written_only_when_what_its_message_published_in_memory_has_arrived(CancellationToken cancellationToken)
    {
        var arrived = new TaskCompletionSource();
        CompilePublishing();
        ArriveWith(arrived.Task);

        var first = await RunAsync("""{ "next": 1 }""", cancellationToken);
        var kept = _marks.Count; // a kill now loses what waits: its source brings the message again, to the state before it
        var second = await RunAsync("{}", cancellationToken);
        arrived.SetResult();
        await first.Settled;

        Assert.That((kept, second.GetProperty("before")), Is.EqualTo((0, (object)1.0)), "the next message sees what is on its way");
        Assert.That(await StoredAsync(cancellationToken), Is.EqualTo("1"));
    }

    [Test]
    public async Task Value_whose_message_was_lost_in_memory_is_not_kept(CancellationToken cancellationToken)
    {
        CompilePublishing();
        var lost = new TaskCompletionSource();
        ArriveWith(Task.CompletedTask);
        await RunAsync("""{ "next": 1 }""", cancellationToken);
        ArriveWith(lost.Task);

        var second = await RunAsync("""{ "next": 2 }""", cancellationToken);
        lost.SetException(new EsbException("ESB-TOPIC-UNAVAILABLE", "away", FaultKind.Unavailable));

        Assert.ThrowsAsync<EsbException>(() => second.Settled);
        Assert.That(await StoredAsync(cancellationToken), Is.EqualTo("1"));
        Assert.That((await RunAsync("{}", cancellationToken)).GetProperty("before"), Is.EqualTo(1.0));
    }

    [Test]
    public async Task Values_are_written_in_the_order_in_which_their_messages_ended(CancellationToken cancellationToken)
    {
        CompilePublishing();
        var (one, two) = (new TaskCompletionSource(), new TaskCompletionSource());
        ArriveWith(one.Task);
        var first = await RunAsync("""{ "next": 1 }""", cancellationToken);
        ArriveWith(two.Task);
        var second = await RunAsync("""{ "next": 2 }""", cancellationToken);
        ArriveWith(Task.CompletedTask);
        var third = await RunAsync("""{ "next": 3 }""", cancellationToken); // does not wait for the others to end

        two.SetResult();
        var early = (_marks.Count, second.Settled.IsCompleted, third.Settled.IsCompleted);
        one.SetResult();
        await Task.WhenAll(first.Settled, second.Settled, third.Settled);

        Assert.That(early, Is.EqualTo((0, false, false)));
        Assert.That(await StoredAsync(cancellationToken), Is.EqualTo("3"));
    }

    [Test]
    public async Task Value_that_cannot_be_written_when_its_message_has_arrived_fails_what_its_source_waits_for(
        CancellationToken cancellationToken
    )
    {
        var arrived = new TaskCompletionSource();
        CompilePublishing();
        ArriveWith(arrived.Task);
        var first = await RunAsync("""{ "next": 1 }""", cancellationToken);
        _marks.IsAway = true;

        arrived.SetResult();

        Assert.That(Assert.ThrowsAsync<EsbException>(() => first.Settled)!.Code, Is.EqualTo("ESB-STORE-AWAY"));
        _marks.IsAway = false;
        Assert.That((await RunAsync("{}", cancellationToken)).GetProperty("before"), Is.Null);
    }

    [Test]
    public void Store_that_is_away_fails_the_message(CancellationToken cancellationToken)
    {
        Compile("""[{ "filter": { "state": "since", "exists": true } }]""");
        _marks.IsAway = true;

        Assert.That(Assert.ThrowsAsync<EsbException>(() => RunAsync("{}", cancellationToken))!.IsTransient, Is.True);
    }

    [Test]
    public void Value_that_is_too_long_is_refused(CancellationToken cancellationToken)
    {
        Compile("""[{ "set": { "state": { "since": { "message": "body" } } } }]""");

        Assert.That(
            Assert.ThrowsAsync<EsbException>(() => RunAsync(new string('x', 5_000), cancellationToken))!.Code,
            Is.EqualTo("ESB-STATE-SIZE")
        );
    }

    [Test]
    public async Task Process_that_another_runs_shares_its_state(CancellationToken cancellationToken)
    {
        _processes = new CompiledProcesses(
            """{ "main": [{ "run": "inner" }, { "set": { "properties": { "n": { "state": "n" } } } }], "inner": [{ "filter": { "state": "n", "notEquals": 2 } }, { "set": { "state": { "n": { "jsonpath": "$.n" } } } }] }""",
            register: services => services.AddSingleton<IEndpointMarks>(_marks)
        );

        var first = await RunAsync("""{ "n": 2 }""", cancellationToken);
        var second = await RunAsync("""{ "n": 3 }""", cancellationToken);

        Assert.That((first.GetProperty("n"), second.Outcome), Is.EqualTo((2.0, ProcessOutcome.Filtered)));
    }

    private void CompilePublishing() =>
        Compile(
            """[{ "set": { "properties": { "before": { "state": "since" } } } }, { "choose": { "when": [{ "if": { "jsonpath": "$.next", "exists": true }, "steps": [{ "set": { "state": { "since": { "jsonpath": "$.next" } } } }, { "publish": "orders.line" }] }] } }]"""
        );

    private void ArriveWith(Task arrived)
    {
        if (_arrived is null)
            _processes!
                .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
                .Do(call => call.Arg<MessageContext>().AwaitSettled(_arrived!));
        _arrived = arrived;
    }

    private Task<string?> StoredAsync(CancellationToken cancellationToken) =>
        _marks.FindAsync("an-endpoint", "state since", cancellationToken);

    private void Compile(string main) =>
        _processes = new CompiledProcesses(
            $$"""{ "main": {{main}} }""",
            register: services => services.AddSingleton<IEndpointMarks>(_marks)
        );

    private Task<MessageContext> RunAsync(string body, CancellationToken cancellationToken) =>
        _processes!.RunAsync(Some.Message(body), cancellationToken);
}
