using System.Collections.Concurrent;
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
    private readonly Claims _claims = new();
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

    private async Task<ProcessOutcome> RunAsync(string? id, CancellationToken cancellationToken, string body = "good") =>
        (
            await _processes!.RunAsync(
                Some.Message(body) with
                {
                    Headers = id is null ? MessageHeaders.Empty : MessageHeaders.From([new("x-id", id)]),
                },
                cancellationToken
            )
        ).Outcome;

    private sealed class Claims : IIdempotencyKeys
    {
        private readonly ConcurrentDictionary<string, byte> _held = new();

        public bool AllRun { get; set; }

        public IReadOnlyCollection<string> Held => [.. _held.Keys];

        public Task<KeyClaim> ClaimAsync(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash, CancellationToken cancellationToken) =>
            Task.FromResult<KeyClaim>(
                !AllRun && _held.TryAdd(key.Value, 0) ? new KeyClaim.Granted(key, bodyHash, Guid.NewGuid()) : new KeyClaim.Running()
            );

        public Task RenewAsync(KeyClaim.Granted claim, CancellationToken cancellationToken) => Task.CompletedTask;

        public Task CompleteAsync(KeyClaim.Granted claim, RecordedAnswer answer, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public Task ReleaseAsync(KeyClaim.Granted claim, CancellationToken cancellationToken)
        {
            _held.TryRemove(claim.Key.Value, out _);
            return Task.CompletedTask;
        }
    }
}
