namespace Esb.Tests.Workflows.Processes;

public sealed class TopicNeedsTests
{
    [TestCase("""{ "publish": "orders.new" }""", true)]
    [TestCase("""{ "request": "orders.query" }""", true)]
    [TestCase("""{ "try": { "steps": [{ "log": "a" }], "catch": [{ "steps": [{ "publish": "orders.new" }] }] } }""", true)]
    [TestCase("""{ "run": "other" }""", true)]
    [TestCase("""{ "run": "harmless" }""", false)]
    [TestCase("""{ "call": "backend" }""", false)]
    [TestCase(
        """{ "transaction": { "connection": "shop", "steps": [{ "call": "shop-db" }, { "publish": "orders.new" }] } }""",
        false,
        Description = "by the outbox"
    )]
    public void Process_needs_topics_where_it_may_publish(string step, bool needsTopics)
    {
        using var processes = new CompiledProcesses(
            $$"""{ "main": [{{step}}], "other": [{ "publish": "orders.new" }], "harmless": [{ "log": "a" }] }"""
        );

        Assert.That(processes.Errors.All, Is.Empty);
        Assert.That(processes.Main.NeedsTopics, Is.EqualTo(needsTopics));
    }
}
