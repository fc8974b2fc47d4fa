using System.Text.Json.Nodes;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class ScatterStepTests : IDisposable
{
    private readonly Dictionary<string, Func<EsbMessage, CancellationToken, Task<EsbMessage?>>> _endpoints = [];
    private readonly List<EsbMessage> _sent = [];
    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [Test]
    public async Task Answers_are_gathered_in_the_order_named_although_the_first_comes_last(CancellationToken cancellationToken)
    {
        var second = new TaskCompletionSource();
        _endpoints["backend"] = async (message, _) =>
        {
            await second.Task;
            return Answer(message, """{"n":1}""", "application/json", 200);
        };
        _endpoints["shop-db"] = (message, _) =>
        {
            second.SetResult();
            return Task.FromResult(Answer(message, "two", "text/plain", null));
        };
        Compile("""{ "endpoints": ["backend", "shop-db"] }""");
        var message = Some.Message("<order/>");

        var context = await _processes!.RunAsync(message, cancellationToken);

        Assert.That(
            context.Message.Body.ReadText(),
            Is.EqualTo("""[{"from":"backend","status":200,"body":{"n":1}},{"from":"shop-db","body":"two"}]""")
        );
        Assert.That((context.Message.ContentType, context.Message.Id), Is.EqualTo(("application/json", message.Id)));
        Assert.That(_sent.Select(sent => sent.Id).Append(message.Id).Distinct().Count(), Is.EqualTo(3), "each has an id of its own");
    }

    [Test]
    public async Task Failure_is_an_answer_where_enough_others_are_good(CancellationToken cancellationToken)
    {
        Serve("backend", "no", "text/plain", 503);
        Serve("shop-db", "null", "application/json", null);
        Compile("""{ "endpoints": ["backend", "shop-db"], "require": 1 }""");

        var context = await _processes!.RunAsync(Some.Message(""), cancellationToken);

        var answers = JsonNode.Parse(context.Message.Body.ReadText())!.AsArray();
        Assert.That(
            (answers[0]!["status"]!.GetValue<int>(), answers[0]!["error"]!["code"]!.GetValue<string>(), answers[1]!["body"]),
            Is.EqualTo((503, "ESB-HTTP-STATUS", (JsonNode?)null))
        );
    }

    [Test]
    public void Answers_that_are_too_few_fail_the_message_at_once(CancellationToken cancellationToken)
    {
        _endpoints["backend"] = async (_, ended) =>
        {
            await Task.Delay(Timeout.Infinite, ended);
            return null;
        };
        Serve("shop-db", "no", "text/plain", 500);
        Compile("""{ "endpoints": ["backend", "shop-db"], "timeout": "1h" }""");

        var error = Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(Some.Message(""), cancellationToken))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-SCATTER-INCOMPLETE", FaultKind.Timeout)));
        Assert.That(
            error.Message,
            Is.EqualTo("0 of 2 gave a good answer, 2 had to (backend: ESB-SCATTER-TIMEOUT, shop-db: ESB-HTTP-STATUS).")
        );
    }

    [Test]
    public void Answer_that_does_not_come_in_time_is_missing(CancellationToken cancellationToken)
    {
        _endpoints["backend"] = async (_, ended) =>
        {
            await Task.Delay(Timeout.Infinite, ended);
            return null;
        };
        Serve("shop-db", "1", "application/json", 200);
        Compile("""{ "endpoints": ["backend", "shop-db"], "timeout": "20ms" }""");

        var error = Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(Some.Message(""), cancellationToken))!;

        Assert.That(error.Message, Does.Contain("backend: ESB-SCATTER-TIMEOUT"));
    }

    [Test]
    public async Task First_good_answer_becomes_the_message_and_the_others_are_cancelled(CancellationToken cancellationToken)
    {
        var cancelled = false;
        _endpoints["backend"] = async (_, ended) =>
        {
            try
            {
                await Task.Delay(Timeout.Infinite, ended);
            }
            finally
            {
                cancelled = true;
            }

            return null;
        };
        Serve("shop-db", "42", "text/plain", 201);
        Compile("""{ "endpoints": ["backend", "shop-db"], "gather": "first" }""");

        var context = await _processes!.RunAsync(Some.Message(""), cancellationToken);

        Assert.That(
            (context.Message.Body.ReadText(), context.GetProperty("scatter.from"), context.GetProperty("status"), cancelled),
            Is.EqualTo(("42", "shop-db", 201.0, true))
        );
    }

    [Test]
    public async Task Map_makes_the_body_of_the_answers(CancellationToken cancellationToken)
    {
        Serve("backend", """{"price":3}""", "application/json", 200);
        Serve("shop-db", """{"price":2}""", "application/json", 200);
        Compile(
            """{ "endpoints": ["backend", "shop-db"], "gather": { "map": "least" } }""",
            ("least.js", "export default input => ({ least: Math.min(...input.map(answer => answer.body.price)) })")
        );

        var context = await _processes!.RunAsync(Some.Message(""), cancellationToken);

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("""{"least":2}"""));
    }

    [Test]
    public async Task Subjects_are_requested(CancellationToken cancellationToken)
    {
        Compile("""{ "subjects": ["orders.query"], "timeout": "7s" }""");
        _processes!
            .Publisher.RequestAsync(default!, default!, default, default!, default)
            .ReturnsForAnyArgs(call =>
            {
                var context = call.Arg<MessageContext>();
                context.Message = context.Message with { Body = MessageBody.FromText("1"), ContentType = "application/json" };
                return ValueTask.CompletedTask;
            });

        var context = await _processes.RunAsync(Some.Message(""), cancellationToken);

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("""[{"from":"orders.query","body":1}]"""));
        await _processes
            .Publisher.Received(1)
            .RequestAsync(
                Arg.Any<MessageContext>(),
                new Subject("orders.query"),
                TimeSpan.FromSeconds(7),
                Arg.Any<string>(),
                Arg.Any<CancellationToken>()
            );
    }

    [
        TestCase("""{ "endpoints": ["backend"], "subjects": ["orders.query"] }""", "ESB-CFG-ONEOF"),
        TestCase("{}", "ESB-CFG-ONEOF"),
        TestCase("""{ "endpoints": ["nobody"] }""", "ESB-CFG-REF")
    ]
    [
        TestCase("""{ "endpoints": ["backend", "backend"] }""", "ESB-CFG-VALUE"),
        TestCase("""{ "endpoints": ["backend"], "require": 2 }""", "ESB-CFG-VALUE"),
        TestCase("""{ "endpoints": ["backend"], "require": "some" }""", "ESB-CFG-VALUE")
    ]
    [
        TestCase("""{ "endpoints": ["backend"], "gather": { "map": "xml" } }""", "ESB-CFG-REF"),
        TestCase("""{ "subjects": ["orders.unheard"] }""", "ESB-CFG-REQUEST"),
        TestCase("""{ "endpoints": ["door"] }""", "ESB-CFG-REF")
    ]
    public void Mistake_is_found_before_a_message_comes(string step, string code)
    {
        Compile(
            step,
            (
                "xml",
                """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><a/></xsl:template></xsl:stylesheet>"""
            )
        );

        Assert.That(_processes!.Errors.All.Select(error => error.Code), Has.Some.EqualTo(code));
    }

    [Test]
    public void Calls_at_the_same_time_are_refused_in_a_transaction()
    {
        _processes = new CompiledProcesses(
            """{ "main": [{ "transaction": { "connection": "shop", "steps": [{ "scatter": { "endpoints": ["backend", "shop-db"] } }] } }] }"""
        );

        Assert.That(_processes.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { "ESB-CFG-TRANSACTION" }));
    }

    private static EsbMessage? Answer(EsbMessage message, string body, string type, int? status)
    {
        var answer = message.Reply(MessageBody.FromText(body), TimeProvider.System) with { ContentType = type };
        return status is null ? answer : answer with { Headers = MessageHeaders.Empty.With(EsbHeaders.Status, $"{status}") };
    }

    private void Serve(string endpoint, string body, string type, int? status) =>
        _endpoints[endpoint] = (message, _) => Task.FromResult(Answer(message, body, type, status));

    private void Compile(string step, params (string, string)[] maps)
    {
        _processes = new CompiledProcesses($$"""{ "main": [{ "scatter": {{step}} }] }""", maps: maps);
        _processes
            .Caller.CallAsync(default!, default!, default, default)
            .ReturnsForAnyArgs(call =>
            {
                lock (_sent)
                    _sent.Add(call.Arg<EsbMessage>());
                return new ValueTask<EsbMessage?>(_endpoints[call.Arg<string>()](call.Arg<EsbMessage>(), call.Arg<CancellationToken>()));
            });
    }
}
