using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class EnrichStepTests : IDisposable
{
    private readonly List<EsbMessage> _sent = [];
    private CompiledProcesses? _processes;
    private (string Body, string Type, int Status) _answer = ("""{ "name": "Ann" }""", "application/json", 200);

    public void Dispose() => _processes?.Dispose();

    [Test]
    public async Task Answer_becomes_a_property_and_the_message_stays(CancellationToken cancellationToken)
    {
        Compile("""{ "call": "backend", "into": { "property": "crm" } }""");
        var message = Some.Message("<order/>") with { Headers = MessageHeaders.From([new("x-a", "1")]) };

        var context = await _processes!.RunAsync(message, cancellationToken);

        Assert.That(context.GetProperty("crm"), Is.EqualTo("""{ "name": "Ann" }"""));
        Assert.That(
            (context.Message.Body.ReadText(), context.Message.Headers["x-a"], context.Message.Id),
            Is.EqualTo(("<order/>", "1", message.Id))
        );
        Assert.That(context.GetProperty("status"), Is.Null, "the status is that of the call alone");
        Assert.That(_sent.Single().Id, Is.Not.EqualTo(message.Id), "the process may call the same endpoint elsewhere");
    }

    [
        TestCase("$.customer", """{"id":1,"customer":{ "name": "Ann" }}"""),
        TestCase("$.id", """{"id":{ "name": "Ann" }}"""),
        TestCase("$.a.b", """{"id":1,"a":{"b":{ "name": "Ann" }}}""")
    ]
    public async Task Answer_becomes_a_member_of_the_body(string path, string expected, CancellationToken cancellationToken)
    {
        Compile($$"""{ "call": { "endpoint": "backend", "expect": "any" }, "into": { "jsonpath": "{{path}}" } }""");

        var context = await _processes!.RunAsync(Some.Message("""{ "id": 1 }""", contentType: "application/json"), cancellationToken);

        Assert.That((context.Message.Body.ReadText(), context.Message.ContentType), Is.EqualTo((expected, "application/json")));
    }

    [Test]
    public async Task Text_becomes_a_text_of_json(CancellationToken cancellationToken)
    {
        _answer = ("say \"ü\"", "text/plain", 200);
        Compile("""{ "call": "backend", "into": { "jsonpath": "$.c" } }""");

        var context = await _processes!.RunAsync(Some.Message("{}"), cancellationToken);

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("""{"c":"say \"ü\""}"""));
    }

    [Test]
    public void Member_of_what_is_no_object_is_refused(CancellationToken cancellationToken)
    {
        Compile("""{ "call": "backend", "into": { "jsonpath": "$.id.b" } }""");

        Assert.That(
            Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(Some.Message("""{ "id": 1 }"""), cancellationToken))!.Code,
            Is.EqualTo("ESB-JSON-MEMBER")
        );
    }

    [Test]
    public async Task Map_makes_the_body_of_message_and_answer(CancellationToken cancellationToken)
    {
        Compile(
            """{ "call": "backend", "into": { "map": "merge" } }""",
            "merge.js",
            "export default (input, context) => ({ id: input.id, name: context.inputs.answer.name })"
        );

        var context = await _processes!.RunAsync(Some.Message("""{ "id": 1 }""", contentType: "application/json"), cancellationToken);

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("""{"id":1,"name":"Ann"}"""));
    }

    [Test]
    public async Task Answer_is_kept_by_its_key(CancellationToken cancellationToken)
    {
        Compile(
            """{ "call": "backend", "into": { "property": "crm" }, "cache": { "key": { "header": "x-id" }, "for": "5m", "maxEntries": 2 } }"""
        );

        foreach (var id in new[] { "1", "1", "2", "1", "3", "1", null, null })
            await _processes!.RunAsync(
                Some.Message("") with
                {
                    Headers = id is null ? MessageHeaders.Empty : MessageHeaders.From([new("x-id", id)]),
                },
                cancellationToken
            );

        Assert.That(
            _sent.Select(message => message.Headers["x-id"]),
            Is.EqualTo(new[] { "1", "2", "3", "1", null, null }),
            "the oldest goes first; without a key nothing is kept"
        );
    }

    [Test]
    public async Task Failed_call_gives_the_otherwise_where_there_is_one(CancellationToken cancellationToken)
    {
        _answer = ("no", "text/plain", 503);
        Compile("""{ "call": "backend", "into": { "jsonpath": "$.c" }, "otherwise": { "name": "unknown" } }""");

        var context = await _processes!.RunAsync(Some.Message("{}"), cancellationToken);

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("""{"c":{"name":"unknown"}}"""));
    }

    [Test]
    public void Failed_call_fails_the_message_otherwise(CancellationToken cancellationToken)
    {
        _answer = ("no", "text/plain", 404);
        Compile("""{ "call": "backend", "into": { "property": "crm" } }""");

        Assert.That(
            Assert.ThrowsAsync<EndpointException>(() => _processes!.RunAsync(Some.Message("{}"), cancellationToken))!.Code,
            Is.EqualTo("ESB-HTTP-STATUS")
        );
    }

    [Test]
    public async Task Property_that_the_inner_call_sets_stays_inside_and_those_before_reach_it(CancellationToken cancellationToken)
    {
        _processes = new CompiledProcesses(
            """
            { "main": [{ "set": { "properties": { "id": "7" } } }, { "enrich": { "call": { "endpoint": "backend", "path": "/c/{property.id}" }, "into": "crm" } }] }
            """
        );
        Serve();

        var context = await _processes.RunAsync(Some.Message("{}"), cancellationToken);

        Assert.That((_sent.Single().Request!.Path, context.Properties.Keys), Is.EqualTo(("/c/7", new[] { "id", "crm" })));
    }

    [
        TestCase("""{ "into": { "property": "a" } }""", "ESB-CFG-ONEOF"),
        TestCase("""{ "call": "backend", "request": "orders.query", "into": "a" }""", "ESB-CFG-ONEOF")
    ]
    [
        TestCase("""{ "call": "backend", "into": { "jsonpath": "$.a[*]" } }""", "ESB-CFG-VALUE"),
        TestCase("""{ "call": "backend", "into": { "jsonpath": "$" } }""", "ESB-CFG-VALUE"),
        TestCase("""{ "call": "nobody", "into": "a" }""", "ESB-CFG-REF")
    ]
    [
        TestCase("""{ "call": "backend", "into": {} }""", "ESB-CFG-ONEOF"),
        TestCase("""{ "call": "backend", "into": { "property": "a", "map": "b" } }""", "ESB-CFG-ONEOF")
    ]
    public void Mistake_is_found_before_a_message_comes(string step, string code)
    {
        _processes = new CompiledProcesses($$"""{ "main": [{ "enrich": {{step}} }] }""");

        Assert.That(_processes.Errors.All.Select(error => error.Code), Has.Some.EqualTo(code));
    }

    private void Compile(string step, string? map = null, string text = "")
    {
        _processes = new CompiledProcesses($$"""{ "main": [{ "enrich": {{step}} }] }""", maps: map is null ? [] : [(map, text)]);
        Serve();
    }

    private void Serve() =>
        _processes!
            .Caller.CallAsync(default!, default!, default, default)
            .ReturnsForAnyArgs(call =>
            {
                _sent.Add(call.Arg<EsbMessage>());
                var answer = _sent[^1].Reply(MessageBody.FromText(_answer.Body), TimeProvider.System);
                return new ValueTask<EsbMessage?>(
                    answer with
                    {
                        ContentType = _answer.Type,
                        Headers = MessageHeaders.From([new("x-answer", "1")]).With(EsbHeaders.Status, $"{_answer.Status}"),
                    }
                );
            });
}
