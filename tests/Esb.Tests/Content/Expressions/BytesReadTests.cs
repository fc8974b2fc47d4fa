using Esb.Content.Json.Paths;
using Esb.Content.Json.Scanning;
using Esb.Content.Xml;
using Esb.Content.Xml.Scanning;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Tests.Workflows.Processes;
using NSubstitute;

namespace Esb.Tests.Content.Expressions;

/// <summary>What a decision costs is what it takes to reach the deciding value, counted in bytes: however long the body is.</summary>
public sealed class BytesReadTests
{
    private const int BodyBytes = 10 << 20;

    private static readonly string Rest = new('x', BodyBytes);

    // Wherever a body of 10 MB was read to its end, it would be found not to be well-formed.
    private static readonly string Xml = $"<orders><order id='7'><symbol>IBM</symbol></order><order>{Rest}</order><broken";
    private static readonly string Json = $$"""{"orders":[{"symbol":"IBM","id":7},"{{Rest}}"],"orders":broken""";

    [TestCase("//order[1]/symbol = 'IBM'")]
    [TestCase("/orders/order/@id = 7")]
    [TestCase("/orders/order[@id='7']/symbol")]
    [TestCase("contains(/orders/order/symbol, 'B')")]
    public void An_XPath_is_decided_within_the_first_piece_of_a_large_body(string xpath)
    {
        var paths = new PathSet(new XmlInput(new XmlLimits()));
        var holds = new ScanCompiler(paths, new Dictionary<string, string>()).CompileTruth(xpath)!;
        var scan = paths.Scan(SomeContent.Body(Xml));

        Assert.That(holds(scan), Is.True);
        Assert.That(scan.Position, Is.InRange(1, 2_048));
    }

    [TestCase("$.orders[0].symbol", "IBM", 36)]
    [TestCase("$.orders[*].id", 7.0, 36)]
    [TestCase("$.orders[?@.id == 7].symbol", "IBM", 36)]
    [TestCase("$.orders[0].missing", null, 36)]
    public void A_JSONPath_is_decided_at_the_deciding_byte_of_a_large_body(string jsonpath, object? expected, int bytes)
    {
        var paths = new JsonPathSet();
        var question = JsonScanCompiler.Compile(JsonPath.Parse(jsonpath), wantsText: true, paths)!;
        var scan = paths.Scan(SomeContent.Body(Json));

        Assert.That(scan.Answer(question), Is.EqualTo(expected));
        Assert.That(scan.Position, Is.InRange(1, bytes));
    }

    [Test]
    public void All_conditions_of_a_choice_are_decided_by_one_pass_over_the_beginning([Values("xml", "json")] string kind)
    {
        var paths =
            kind == "xml"
                ? new[] { "/orders/order/symbol", "/orders/order[1]/@id", "//symbol" }
                : ["$.orders[0].symbol", "$.orders[0].id", "$.orders[*].symbol"];
        var compiler = SomeContent.Compiler();
        var conditions = new[] { (paths[0], "SUN"), (paths[1], "8"), (paths[2], "IBM") }
            .Select(one => Compile(compiler, kind, one.Item1, one.Item2))
            .ToList();
        var context = Some.Context(kind == "xml" ? Xml : Json);

        var decisions = conditions.Select(condition => condition.Holds(context)).ToList();

        var alone = conditions.Select(condition => BytesReadAfter(condition, kind)).ToList();
        Assert.That(decisions, Is.EqualTo(new[] { false, false, true }));
        Assert.That(alone, Has.All.InRange(1, 2_048));
        Assert.That(BytesRead(context, kind), Is.EqualTo(alone.Max()), "what the furthest of them needs, and nothing twice");
    }

    [Test, CancelAfter(30_000)]
    public async Task A_choice_forwards_the_body_that_it_has_not_read(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses(
            """
            { "main": [{ "choose": {
                "when": [
                  { "if": { "xpath": "/invoices" }, "steps": [{ "fail": "an invoice" }] },
                  { "if": { "xpath": "/orders/order[1]/symbol[1] = 'SUN'" }, "steps": [{ "fail": "for SUN" }] },
                  { "if": { "xpath": "//order[1]/symbol = 'IBM'" }, "steps": [{ "call": "backend" }] }],
                "otherwise": [{ "fail": "for nobody" }] } }] }
            """
        );
        var order = Some.Message(Xml);

        await processes.RunAsync(order, cancellationToken);

        await processes
            .Caller.Received(1)
            .CallAsync("backend", Arg.Is<EsbMessage>(sent => ReferenceEquals(sent.Body, order.Body)), null, cancellationToken);
    }

    [Test]
    public void A_body_is_as_it_was_after_a_decision()
    {
        var context = Some.Context(Xml);
        var before = context.Message.Body.Bytes;

        Compile(SomeContent.Compiler(), "xml", "IBM").Holds(context);

        Assert.That(context.Message.Body.Bytes, Is.EqualTo(before), "the same memory, to be forwarded as it came");
    }

    [TestCase("xml", "<orders><order><symbol>IBM</symbol></order><broken", "ESB-XML-SYNTAX")]
    [TestCase("json", """{"orders":[{"symbol":"IBM"}],"orders":[{"symbol":"SUN"}]}""", "ESB-JSON-DUPKEY")]
    public void Who_wants_whole_bodies_checked_hears_of_a_fault_behind_the_deciding_value(string kind, string body, string code)
    {
        var trusting = Compile(SomeContent.Compiler(), kind, "IBM");
        using var configured = SomeContent.Configure("""{ "limits": { "checkWholeBodies": true } }""");
        var checking = Compile(configured.Expressions, kind, "IBM");

        Assert.That(trusting.Holds(Some.Context(body)), Is.True);
        for (var i = 0; i < 2; i++)
            Assert.That(() => checking.Holds(Some.Context(body)), Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo(code));
    }

    [
        TestCase("""{"id":"A","amount":1,}"""),
        TestCase("""{"id":"A","amount":1, garbage"""),
        TestCase("""{"id":"A"}{"id":"B"}"""),
        TestCase("""{"id":"A","id":"B"}""")
    ]
    public void Broken_JSON_of_a_message_is_refused_by_default_but_not_what_is_passed_on(string body)
    {
        using var configured = SomeContent.Configure("{}");
        var condition = Compile(configured.Expressions, "json", "$.id", "A");
        var passedOn = Some.Message() with { Body = MessageBody.FromPassedOn(System.Text.Encoding.UTF8.GetBytes(body)) };

        Assert.That(() => condition.Holds(Some.Context(body)), Throws.InstanceOf<EsbException>());
        Assert.That(condition.Holds(Some.Context(passedOn)), Is.True);
    }

    private static long BytesReadAfter(IMessageCondition condition, string kind)
    {
        var context = Some.Context(kind == "xml" ? Xml : Json);
        condition.Holds(context);
        return BytesRead(context, kind);
    }

    private static long BytesRead(MessageContext context, string kind) =>
        kind == "xml"
            ? context.Message.Body.ViewSoFar(body => new XmlScans(body)).BytesRead
            : context.Message.Body.ViewSoFar(body => new JsonScans(body)).BytesRead;

    private static IMessageCondition Compile(IExpressionCompiler compiler, string kind, string symbol) =>
        Compile(compiler, kind, kind == "xml" ? "/orders/order/symbol" : "$.orders[0].symbol", symbol);

    private static IMessageCondition Compile(IExpressionCompiler compiler, string kind, string path, string text)
    {
        var constant = SomeContent.Constant(text);
        var condition =
            kind == "xml"
                ? new ConditionConfig { Xpath = path, EqualTo = constant }
                : new ConditionConfig { Jsonpath = path, EqualTo = constant };
        return compiler.Compile(condition, new ConfigErrors())!;
    }
}
