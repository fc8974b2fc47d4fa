using System.Text;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Processes.Tracing;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using Esb.Workflows.Processes.Tracing;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes.Tracing;

/// <summary>What a trace records of the messages of an endpoint, when it ends, and that it stays small.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase), CancelAfter(30_000)]
public sealed class ProcessTracesTests
{
    private const string Branches = """
        { "main": [
            { "id": "note", "set": { "properties": { "seen": true } } },
            { "id": "which", "choose": {
              "when": [{ "if": { "property": "absent" }, "steps": [{ "id": "never", "set": { "body": { "template": "never" } } }] }],
              "otherwise": [{ "id": "write", "set": { "body": { "template": "written" } } }] } },
            { "run": "inner" } ],
          "inner": [{ "id": "answer", "respond": { "body": "done" } }] }
        """;

    private readonly ManualTime _time = new();
    private readonly IAuditTrail _audit = Substitute.For<IAuditTrail>();

    [SetUp]
    public void Mask()
    {
        _audit.Mask.Returns(new SecretMask());
        _audit.FieldsOf(default!, default!).ReturnsForAnyArgs(new Dictionary<string, string>());
    }

    [Test]
    public async Task Steps_that_ran_are_recorded_on_the_process_with_its_other_branches(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses(Branches);
        using var traces = Traces(processes);
        var trace = traces.Start(Order());

        var context = await processes.RunAsync(Some.Message("my secret"), cancellationToken);

        var pass = traces.All.Single().Messages.Single();
        var message = traces.Find(trace.Order.Id, pass.Id)!;
        Assert.That((pass.MessageId, pass.Outcome), Is.EqualTo((context.Received.Id, TraceOutcome.Responded)));
        Assert.That(
            message.Steps.Select(step => $"{step.Process} {step.Kind} {step.Place} {step.Before}>{step.After}"),
            Is.EqualTo([
                "main set note 0>0",
                "main choose which 0>1",
                "main set write 0>1",
                "main run processes.main[2].run 1>2",
                "inner respond answer 1>2",
            ])
        );
        Assert.That(
            message.Bodies.Select(body => $"{body.State} {body.Text}"),
            Is.EqualTo(["Masked my ******", "Whole written", "Whole done"])
        );
        Assert.That(message.Processes.Select(process => process.Name), Is.EqualTo(["main", "inner"]));
        var branches = message.Processes[0].Steps[1].Lists;
        Assert.That(branches.Select(list => list.Single().Place), Is.EqualTo(["never", "write"]));
    }

    [Test]
    public async Task Failed_step_has_its_code_and_the_steps_behind_it_are_missing(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses(
            """{ "main": [{ "id": "stop", "fail": { "reason": "no secret here", "code": "SHOP-1" } }, { "id": "behind", "set": { "body": "x" } }] }"""
        );
        using var traces = Traces(processes);
        var trace = traces.Start(Order());

        Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message("a"), cancellationToken));

        var pass = traces.All.Single().Messages.Single();
        var step = traces.Find(trace.Order.Id, pass.Id)!.Steps.Single();
        Assert.That((pass.Outcome, pass.Code), Is.EqualTo((TraceOutcome.Failed, "SHOP-1")));
        Assert.That((step.Place, step.Code), Is.EqualTo(("stop", "SHOP-1")));
    }

    [Test]
    public async Task Only_messages_that_meet_all_conditions_are_recorded_and_a_masked_value_is_never_found(
        CancellationToken cancellationToken
    )
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "id": "note", "set": { "properties": { "seen": true } } }] }""");
        using var traces = Traces(processes);
        _audit
            .FieldsOf(default!, default!)
            .ReturnsForAnyArgs(call => new Dictionary<string, string> { ["order"] = call.Arg<EsbMessage>().Body.ReadText() });
        traces.Start(Order(where: ["order=7", "header.region=eu"]));

        await processes.RunAsync(With("7", "eu"), cancellationToken);
        await processes.RunAsync(With("7", "us"), cancellationToken);
        await processes.RunAsync(With("8", "eu"), cancellationToken);
        var found = traces.All.Single().Messages.Count;
        traces.Stop(traces.All.Single().Order.Id);
        traces.Start(Order(where: ["header.region=secret"]));
        await processes.RunAsync(With("7", "secret"), cancellationToken);

        Assert.That(found, Is.EqualTo(1));
        Assert.That(traces.All[0].Messages, Is.Empty);

        static EsbMessage With(string body, string region) =>
            Some.Message(body) with
            {
                Headers = MessageHeaders.Empty.With("region", region),
            };
    }

    [Test]
    public async Task Trace_ends_with_its_messages_with_its_time_and_on_command(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "id": "note", "set": { "properties": { "seen": true } } }] }""");
        using var traces = Traces(processes);
        var full = traces.Start(Order(count: 2)).Order.Id;
        for (var i = 0; i < 3; i++)
            await processes.RunAsync(Some.Message("a"), cancellationToken);
        var timed = traces.Start(Order()).Order.Id;
        _time.Advance(TimeSpan.FromMinutes(5));
        await processes.RunAsync(Some.Message("a"), cancellationToken);
        var stopped = traces.Start(Order()).Order.Id;
        traces.Stop(stopped);
        await processes.RunAsync(Some.Message("a"), cancellationToken);

        Assert.That(
            traces.All.Select(trace => (trace.Order.Id, trace.State, trace.Messages.Count)),
            Is.EqualTo(new[] { (stopped, TraceState.Stopped, 0), (timed, TraceState.Ended, 0), (full, TraceState.Full, 2) })
        );
        Assert.That(processes.Service<TraceSwitch>().Running, Is.Empty, "processes ask nothing any more");
    }

    [Test]
    public void Endpoint_is_traced_once_at_a_time_and_few_at_once()
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "id": "note", "set": { "properties": { "seen": true } } }] }""");
        using var traces = Traces(processes);
        traces.Start(Order("a"));

        Assert.That(Assert.Throws<EsbException>(() => traces.Start(Order("a")))!.Code, Is.EqualTo("ESB-API-TRACED"));
        for (var i = 1; i < ProcessTraces.MostRunning; i++)
            traces.Start(Order($"b{i}"));
        Assert.That(Assert.Throws<EsbException>(() => traces.Start(Order("c")))!.Code, Is.EqualTo("ESB-API-TRACED"));
    }

    [Test]
    public void Old_traces_are_forgotten()
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "id": "note", "set": { "properties": { "seen": true } } }] }""");
        using var traces = Traces(processes);

        for (var i = 0; i < ProcessTraces.MostKept + 3; i++)
            traces.Stop(traces.Start(Order()).Order.Id);

        Assert.That(traces.All, Has.Count.EqualTo(ProcessTraces.MostKept));
        _time.Advance(RunningTrace.KeepTime);
        Assert.That(traces.All, Is.Empty);
    }

    [Test]
    public async Task Bodies_that_are_large_binary_withheld_or_too_many_are_told_and_not_kept(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "id": "note", "set": { "properties": { "seen": true } } }] }""");
        using var traces = Traces(processes);
        var trace = traces.Start(Order(count: 100)).Order.Id;
        var large = new string('é', PassBodies.MostBytes);

        await processes.RunAsync(Some.Message("x" + large), cancellationToken);
        await processes.RunAsync(Some.Message("") with { Body = MessageBody.FromBytes(new byte[] { 0xFF, 0xFE, 0 }) }, cancellationToken);
        await processes.RunAsync(Some.Message("withhold"), cancellationToken);
        for (var i = 0; i < 70; i++)
            await processes.RunAsync(Some.Message($"{i}{large}"), cancellationToken);

        var bodies = traces.All.Single().Messages.Select(pass => traces.Find(trace, pass.Id)!.Bodies.Single()).ToList();
        Assert.That(
            bodies.Take(3).Select(body => body.State),
            Is.EqualTo([TracedBodyState.Truncated, TracedBodyState.Binary, TracedBodyState.Withheld])
        );
        Assert.That(Encoding.UTF8.GetByteCount(bodies[0].Text!), Is.InRange(PassBodies.MostBytes - 3, PassBodies.MostBytes));
        Assert.That(bodies[0].Text, Does.Not.Contain("\uFFFD"));
        Assert.That(bodies.Sum(body => body.Text?.Length ?? 0), Is.LessThanOrEqualTo(TraceBudget.MostChars));
        Assert.That(bodies[^1].State, Is.EqualTo(TracedBodyState.OverLimit));
    }

    [Test]
    public async Task Steps_beyond_the_limit_are_counted(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses(
            """{ "main": [{ "split": { "jsonpath": "$[*]", "steps": [{ "id": "item", "set": { "properties": { "seen": true } } }] } }] }""",
            register: services => services.AddSingleton(Substitute.For<IDeadLetterChannel>())
        );
        using var traces = Traces(processes);
        var trace = traces.Start(Order()).Order.Id;

        await processes.RunAsync(
            Some.Message($"[{string.Join(',', Enumerable.Range(0, TracePass.MostSteps + 9))}]") with
            {
                ContentType = "application/json",
            },
            cancellationToken
        );

        var message = traces.Find(trace, traces.All.Single().Messages.Single().Id)!;
        Assert.That(message.Steps, Has.Count.EqualTo(TracePass.MostSteps));
        Assert.That(message.FurtherSteps, Is.EqualTo(10));
        Assert.That(message.Steps[1].Part, Is.Not.Null.And.Not.EqualTo(message.Pass.MessageId));
    }

    private ProcessTraces Traces(CompiledProcesses processes) => new(processes.Service<TraceSwitch>(), _audit, _time);

    private static TraceOrder Order(string endpoint = "an-endpoint", int count = 20, params IReadOnlyList<string> where) =>
        new(
            Guid.NewGuid(),
            endpoint,
            [.. where.Select(text => TraceCondition.Read(text)!)],
            count,
            TimeSpan.FromMinutes(5),
            "me",
            Reason: null
        );

    private sealed class SecretMask : IMessageMask
    {
        public bool IsEmpty => false;

        public MaskedMessage Apply(EsbMessage message)
        {
            var headers = message.Headers;
            if (headers["region"] == "secret")
                headers = headers.With("region", "***");
            if (!message.Body.IsBuffered || message.Body.Length > 1_000)
                return MaskedMessage.Unmasked(message with { Headers = headers });
            var text = Encoding.Latin1.GetString(message.Body.Bytes.Span);
            if (text == "withhold")
                return new MaskedMessage(message, AuditBodyState.Withheld, MaskedSecrets.None);
            return text.Contains("secret", StringComparison.Ordinal)
                ? new MaskedMessage(
                    message with
                    {
                        Headers = headers,
                        Body = MessageBody.FromText(text.Replace("secret", "******", StringComparison.Ordinal)),
                    },
                    AuditBodyState.Masked,
                    MaskedSecrets.None
                )
                : MaskedMessage.Unmasked(message with { Headers = headers });
        }
    }
}
