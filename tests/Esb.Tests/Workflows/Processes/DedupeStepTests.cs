using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class DedupeStepTests : IDisposable
{
    private readonly KeptMarks _marks = new();
    private readonly HeldClaims _claims = new();
    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [Test]
    public async Task Message_with_the_same_key_passes_once(CancellationToken cancellationToken)
    {
        Compile("""{ "key": { "header": "x-id" } }""");

        ProcessOutcome[] outcomes =
        [
            await RunAsync("1", cancellationToken),
            await RunAsync("1", cancellationToken),
            await RunAsync("2", cancellationToken),
            await RunAsync(null, cancellationToken),
            await RunAsync(null, cancellationToken),
        ];

        Assert.That(
            outcomes,
            Is.EqualTo(
                new[]
                {
                    ProcessOutcome.Running,
                    ProcessOutcome.Filtered,
                    ProcessOutcome.Running,
                    ProcessOutcome.Running,
                    ProcessOutcome.Running,
                }
            )
        );
        Assert.That(_claims.Held, Is.Empty);
    }

    [Test]
    public async Task Repetition_is_refused_where_that_is_asked_for(CancellationToken cancellationToken)
    {
        Compile("""{ "key": { "header": "x-id" }, "onDuplicate": "refuse" }""");
        await RunAsync("1", cancellationToken);

        var error = Assert.ThrowsAsync<EsbException>(() => RunAsync("1", cancellationToken))!;

        Assert.That((error.Code, error.Status, error.IsTransient), Is.EqualTo(("ESB-DEDUPE-DUPLICATE", (int?)409, false)));
    }

    [Test]
    public async Task Message_whose_process_failed_may_come_again(CancellationToken cancellationToken)
    {
        Compile("""{ "key": { "header": "x-id" } }""");

        Assert.ThrowsAsync<EsbException>(() => RunAsync("1", cancellationToken, body: "bad"));

        Assert.That((_claims.Held, await RunAsync("1", cancellationToken)), Is.EqualTo((Array.Empty<string>(), ProcessOutcome.Running)));
    }

    [Test]
    public void Message_that_another_one_with_the_same_key_is_in_work_for_waits(CancellationToken cancellationToken)
    {
        Compile("""{ "key": { "header": "x-id" } }""");
        _claims.AllRun = true;

        var error = Assert.ThrowsAsync<EsbException>(() => RunAsync("1", cancellationToken))!;

        Assert.That((error.Code, error.IsTransient), Is.EqualTo(("ESB-DEDUPE-RUNNING", true)));
    }

    [Test]
    public async Task Item_that_failed_may_come_again_and_others_are_remembered(CancellationToken cancellationToken)
    {
        _processes = new CompiledProcesses(
            """{ "main": [{ "id": "items", "split": { "jsonpath": "$[*]", "steps": [{ "id": "once", "dedupe": { "key": { "jsonpath": "$.n" } } }, { "choose": { "when": [{ "if": { "jsonpath": "$.bad" }, "steps": [{ "fail": "no" }] }] } }, { "publish": "orders.line" }] } }] }""",
            register: services =>
                services
                    .AddSingleton<IEndpointMarks>(_marks)
                    .AddSingleton<IIdempotencyKeys>(_claims)
                    .AddSingleton(Substitute.For<IDeadLetterChannel>())
        );
        var published = new List<string>();
        _processes
            .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
            .Do(call => published.Add(call.Arg<MessageContext>().Message.Body.ReadText()));

        await _processes.RunAsync(Some.Message("""[{"n":1},{"n":2,"bad":true},{"n":1}]"""), cancellationToken);
        await _processes.RunAsync(Some.Message("""[{"n":1},{"n":2}]"""), cancellationToken);

        Assert.That((published, _claims.Held), Is.EqualTo((new[] { """{"n":1}""", """{"n":2}""" }, Array.Empty<string>())));
    }

    [Test]
    public async Task Message_is_remembered_only_when_what_it_published_in_memory_has_arrived(CancellationToken cancellationToken)
    {
        var arrived = new TaskCompletionSource();
        CompilePublishing("""{ "key": { "header": "x-id" } }""");
        _processes!
            .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
            .Do(call => call.Arg<MessageContext>().AwaitSettled(arrived.Task));

        var first = await _processes.RunAsync(MessageOf("1"), cancellationToken);
        var kept = _marks.Count; // a kill now loses what waits: its source must be able to bring it again
        var second = await RunAsync("1", cancellationToken);
        arrived.SetResult();
        await first.Settled;

        Assert.That(kept, Is.Zero);
        Assert.That(second, Is.EqualTo(ProcessOutcome.Filtered), "the first is on its way");
        Assert.That((_marks.Count, await RunAsync("1", cancellationToken)), Is.EqualTo((1, ProcessOutcome.Filtered)));
        Assert.That(_claims.Held, Is.Empty);
    }

    [Test]
    public async Task Message_whose_publish_was_lost_in_memory_may_come_again(CancellationToken cancellationToken)
    {
        var arrived = new TaskCompletionSource();
        CompilePublishing("""{ "key": { "header": "x-id" } }""");
        _processes!
            .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
            .Do(call => call.Arg<MessageContext>().AwaitSettled(arrived.Task));

        var first = await _processes.RunAsync(MessageOf("1"), cancellationToken);
        arrived.SetException(new EsbException("ESB-TOPIC-UNAVAILABLE", "away", FaultKind.Unavailable));

        Assert.ThrowsAsync<EsbException>(() => first.Settled);
        Assert.That(await RunAsync("1", cancellationToken), Is.EqualTo(ProcessOutcome.Running));
    }

    [Test]
    public async Task Message_that_its_source_brings_again_is_not_refused_as_its_own_repetition(CancellationToken cancellationToken)
    {
        Compile("""{ "key": { "header": "x-id" }, "onDuplicate": "refuse" }""");
        var message = MessageOf("1");
        await _processes!.RunAsync(message, cancellationToken);

        var again = await _processes.RunAsync(message, cancellationToken); // the host died before the source knew of the first time

        Assert.That(again.Outcome, Is.EqualTo(ProcessOutcome.Filtered));
        Assert.That(Assert.ThrowsAsync<EsbException>(() => RunAsync("1", cancellationToken))!.Code, Is.EqualTo("ESB-DEDUPE-DUPLICATE"));
    }

    [Test]
    public async Task Request_that_comes_again_is_refused_since_its_answer_is_not_kept(CancellationToken cancellationToken)
    {
        Compile("""{ "key": { "header": "x-id" }, "onDuplicate": "refuse" }""");
        var message = MessageOf("1");
        await _processes!.RunAsync(message, cancellationToken);

        var error = Assert.ThrowsAsync<EsbException>(() =>
            _processes.RunAsync(new MessageContext(message, "an-endpoint") { IsRequest = true }, cancellationToken)
        )!;

        Assert.That(error.Code, Is.EqualTo("ESB-DEDUPE-DUPLICATE"));
    }

    [Test]
    public async Task Items_of_an_interrupted_split_are_not_refused_as_their_own_repetitions(CancellationToken cancellationToken)
    {
        var letters = Substitute.For<IDeadLetterChannel>();
        _processes = new CompiledProcesses(
            """{ "main": [{ "id": "items", "split": { "jsonpath": "$[*]", "steps": [{ "id": "once", "dedupe": { "key": { "jsonpath": "$" }, "onDuplicate": "refuse" } }, { "publish": "orders.line" }] } }] }""",
            register: services =>
                services.AddSingleton<IEndpointMarks>(_marks).AddSingleton<IIdempotencyKeys>(_claims).AddSingleton(letters)
        );
        var message = Some.Message("[1,2,2]");

        await _processes.RunAsync(message, cancellationToken);
        await _processes.RunAsync(message, cancellationToken);

        Assert.That(
            letters.ReceivedCalls().Select(call => ((DeadLetter)call.GetArguments()[0]!).Message.Body.ReadText()),
            Is.EqualTo(new[] { "2", "2" }),
            "the item that repeats another, each time"
        );
    }

    [Test]
    public async Task Message_is_remembered_also_where_its_caller_hangs_up_at_the_end(CancellationToken cancellationToken)
    {
        using var hangsUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        CompilePublishing("""{ "key": { "header": "x-id" } }""");
        _processes!
            .Publisher.PublishAsync(default!, default!, default!, default)
            .ReturnsForAnyArgs(_ => new ValueTask(hangsUp.CancelAsync()));

        await _processes.RunAsync(MessageOf("1"), hangsUp.Token);

        Assert.That(await RunAsync("1", cancellationToken), Is.EqualTo(ProcessOutcome.Filtered), "its publish was confirmed");
    }

    [Test]
    public async Task Claims_take_no_place_of_the_idempotency_keys_of_callers(CancellationToken cancellationToken)
    {
        Compile("""{ "key": { "header": "x-id" } }""");

        await RunAsync("1", cancellationToken);

        Assert.That(_claims.Clients.Single(), Is.EqualTo(IdempotencyKey.Dedupe), "each client has a limit of its own");
    }

    [Test]
    public void Step_is_refused_where_the_message_can_fail_behind_it()
    {
        _processes = new CompiledProcesses(
            """{ "main": [], "before": [{ "dedupe": { "key": { "header": "x-id" } } }] }""",
            sections: "",
            prepared: "before"
        );

        Assert.That(_processes.Errors.All.Select(error => error.Path), Is.EqualTo(new[] { "processes.before[0].dedupe" }));
    }

    private void Compile(string settings) =>
        _processes = new CompiledProcesses(
            $$"""{ "main": [{ "id": "once", "dedupe": {{settings}} }, { "choose": { "when": [{ "if": { "message": "body", "equals": "bad" }, "steps": [{ "fail": "no" }] }] } }] }""",
            register: services => services.AddSingleton<IEndpointMarks>(_marks).AddSingleton<IIdempotencyKeys>(_claims)
        );

    private void CompilePublishing(string settings) =>
        _processes = new CompiledProcesses(
            $$"""{ "main": [{ "id": "once", "dedupe": {{settings}} }, { "publish": "orders.line" }] }""",
            register: services => services.AddSingleton<IEndpointMarks>(_marks).AddSingleton<IIdempotencyKeys>(_claims)
        );

    private static EsbMessage MessageOf(string? id, string body = "good") =>
        Some.Message(body) with
        {
            Headers = id is null ? MessageHeaders.Empty : MessageHeaders.From([new("x-id", id)]),
        };

    private async Task<ProcessOutcome> RunAsync(string? id, CancellationToken cancellationToken, string body = "good") =>
        (await _processes!.RunAsync(MessageOf(id, body), cancellationToken)).Outcome;
}
