using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Workflows.Processes;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class StateTests : IDisposable
{
    private readonly KeptMarks _marks = new();
    private CompiledProcesses? _processes;

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

    private void Compile(string main) =>
        _processes = new CompiledProcesses(
            $$"""{ "main": {{main}} }""",
            register: services => services.AddSingleton<IEndpointMarks>(_marks)
        );

    private Task<MessageContext> RunAsync(string body, CancellationToken cancellationToken) =>
        _processes!.RunAsync(Some.Message(body), cancellationToken);
}
