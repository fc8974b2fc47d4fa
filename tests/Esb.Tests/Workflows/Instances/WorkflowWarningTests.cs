namespace Esb.Tests.Workflows.Instances;

/// <summary>Warnings of <c>esb validate</c> about workflows that are permitted.</summary>
public sealed class WorkflowWarningTests
{
    private const string Forever = """{ "repeat": { "while": true, "steps": [{ "publish": "out.again" }, { "delay": "1m" }] } }""";

    [TestCase(Forever, "workflows.w.steps[0].repeat")]
    [TestCase("""{ "repeat": { "while": { "not": { "value": "a", "equals": "b" } }, "steps": [] } }""", "workflows.w.steps[0].repeat")]
    [TestCase(
        $$"""{ "parallel": { "branches": { "a": [{ "delay": "1m" }], "b": [{{Forever}}] } } }""",
        "workflows.w.steps[0].parallel.branches.b[0].repeat"
    )]
    [TestCase(
        $$"""{ "scope": { "steps": [{ "choose": { "when": [{ "if": { "header": "x" }, "steps": [{{Forever}}] }], "otherwise": [{{Forever}}] } }] } }""",
        "workflows.w.steps[0].scope.steps[0].choose.when[0].steps[0].repeat"
    )]
    [TestCase("""{ "runWorkflow": "w" }""", "workflows.w.steps[0].runWorkflow")]
    [TestCase("""{ "runWorkflow": "back" }""", "workflows.w.steps[0].runWorkflow")]
    public void Workflow_that_never_ends_is_warned_of_at_the_step_that_it_does_not_pass(string step, string path)
    {
        var compiled = Compile(step);

        Assert.That(compiled.Errors, Is.Empty);
        Assert.That(
            compiled.Warnings.Where(warning => warning.Path.StartsWith("workflows.w.", StringComparison.Ordinal)),
            Has.Exactly(1).Items
        );
        Assert.That(compiled.Warnings[0].Code, Is.EqualTo("ESB-WFL-ENDLESS"));
        Assert.That(compiled.Warnings[0].Path, Is.EqualTo(path));
    }

    [TestCase("""{ "repeat": { "while": { "variable": "more" }, "steps": [{ "delay": "1m" }] } }""")]
    [TestCase("""{ "repeat": { "while": false, "steps": [{ "delay": "1m" }] } }""")]
    [TestCase("""{ "repeat": { "while": true, "steps": [{ "filter": { "header": "x" } }] } }""")]
    [TestCase("""{ "repeat": { "while": true, "steps": [{ "run": "inner" }] } }""")]
    [TestCase(
        """{ "repeat": { "while": true, "steps": [{ "choose": { "when": [{ "if": { "header": "x" }, "steps": [{ "terminate": "x" }] }] } }] } }"""
    )]
    [TestCase($$"""{ "try": { "steps": [{{Forever}}], "catch": [{ "steps": [] }] } }""")]
    [TestCase($$"""{ "choose": { "when": [{ "if": { "header": "x" }, "steps": [{{Forever}}] }] } }""")]
    [TestCase($$"""{ "parallel": { "branches": { "a": [{ "delay": "1m" }], "b": [{{Forever}}] }, "join": "any" } }""")]
    [TestCase("""{ "runWorkflow": "limited" }""")]
    [TestCase("""{ "startWorkflow": "w" }""")]
    [TestCase("""{ "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } } } }""")]
    public void Workflow_that_may_end_is_not(string step)
    {
        var compiled = Compile(step);

        Assert.That(compiled.Errors, Is.Empty);
        Assert.That(compiled.Warnings.Where(warning => warning.Path.StartsWith("workflows.w.", StringComparison.Ordinal)), Is.Empty);
    }

    [TestCase("stock.packed")]
    [TestCase("stock.packed.*")]
    [TestCase("bills.#")]
    public void Wait_for_what_nothing_publishes_is_warned_of_where_topics_are_in_memory(string subject)
    {
        var warning = CompiledWorkflows.Of(Waiting(subject), Sources).Warnings.Single();

        Assert.That((warning.Code, warning.Path), Is.EqualTo(("ESB-WFL-SILENCE", "workflows.w.steps[0].receive.subscribe")));
        Assert.That(warning.Expected, Does.StartWith($"waits for {subject}, which no endpoint, process or workflow"));
    }

    [TestCase("stock.picked", Description = "by an endpoint")]
    [TestCase("stock.counted", Description = "by a process")]
    [TestCase("stock.named.blue", Description = "by a process, as a message says")]
    [TestCase("stock.copied", Description = "by a tap")]
    [TestCase("orders.*", Description = "by another workflow")]
    [TestCase("stock.asked", Description = "as a request")]
    [TestCase("esb-events.#", Description = "by the bus")]
    public void Wait_for_what_something_publishes_is_not(string subject) =>
        Assert.That(CompiledWorkflows.Of(Waiting(subject), Sources), Has.Property("Errors").Empty.And.Property("Warnings").Empty);

    [Test]
    public void Wait_for_what_strangers_may_publish_over_a_broker_is_not()
    {
        const string broker = """
            "transport": { "type": "rabbitmq", "url": "amqp://localhost" },
            "store": { "type": "postgres", "connection": "Host=localhost;Username=esb" },
            """;

        var compiled = CompiledWorkflows.Of(Waiting("stock.packed"), broker + Sources);

        Assert.That(compiled.Errors, Is.Empty);
        Assert.That(compiled.Warnings.Select(warning => warning.Code), Has.None.EqualTo("ESB-WFL-SILENCE"));
    }

    private const string Sources = """
        "endpoints": {
          "stock": { "type": "http-inbound", "path": "/stock", "publish": "stock.picked" },
          "counts": { "type": "http-inbound", "path": "/counts", "process": "count" }
        },
        "processes": {
          "count": [
            { "publish": "stock.counted" }, { "wireTap": "stock.copied" },
            { "recipients": { "to": { "header": "x" }, "allow": ["stock.named.*"] } } ]
        },
        """;

    private static CompiledWorkflows Compile(string step) =>
        CompiledWorkflows.Of(
            $$"""
            { "w": { "start": "orders.new", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": [{{step}}] },
              "back": { "steps": [{ "runWorkflow": "w" }] },
              "limited": { "timeout": "1h", "steps": [{{Forever}}] } }
            """,
            """
            "endpoints": { "stock": { "type": "http-inbound", "path": "/stock", "publish": "stock.picked" } },
            "processes": { "inner": [{ "filter": { "header": "x" } }] },
            """
        );

    private static string Waiting(string subject) =>
        $$"""
            { "w": {
                "start": "orders.new", "correlate": { "order": { "jsonpath": "$.order" } },
                "steps": [{ "receive": { "subscribe": "{{subject}}", "match": { "order": { "jsonpath": "$.order" } } } }] },
              "other": { "start": "stock.picked", "steps": [{ "request": "stock.asked" }, { "publish": "orders.done" }] } }
            """;

    [TestCase("", true), TestCase(""" "transport": { "type": "rabbitmq", "url": "amqp://localhost" }, """, false)]
    public void Topics_that_hosts_share_need_a_store_that_they_share(string transport, bool isFit)
    {
        var compiled = CompiledWorkflows.Of("""{ "w": { "start": "orders.new", "steps": [{ "delay": "1s" }] } }""", transport);

        Assert.That(
            compiled.Errors.Select(error => (error.Code, error.Path)),
            Is.EqualTo(isFit ? [] : new[] { ("ESB-CFG-STORE", "workflows") })
        );
    }
}
