namespace Esb.Tests.Workflows.Processes;

public sealed class ProcessCheckTests
{
    [Test, Property("Case", "CFG-15")]
    public void Processes_that_run_one_another_in_a_circle_are_refused_with_the_circle()
    {
        using var processes = new CompiledProcesses(
            """
            { "main": [{ "run": "second" }], "second": [{ "try": { "steps": [{ "run": "main" }] } }] }
            """
        );

        Assert.That(
            processes.Errors.All.Select(error => error.ToString()),
            Has.Some.Contains("ESB-CFG-CYCLE").And.Some.Contains("main → second → main")
        );
    }

    [TestCase("""{ "publish": "orders.query" }""")]
    [TestCase("""{ "run": "other" }""")]
    [Property("Case", "CFG-16")]
    public void Endpoint_that_writes_to_where_its_own_messages_are_read_is_refused(string step)
    {
        using var processes = new CompiledProcesses(
            $$"""{ "main": [{{step}}], "other": [{ "publish": "orders.query" }] }""",
            place: "a-folder"
        );

        Assert.That(processes.Errors.All.Single().ToString(), Does.StartWith("ESB-CFG-LOOP endpoints.backend").And.Contains("door"));
    }

    [Test]
    public void Endpoint_that_writes_other_messages_to_where_some_are_read_is_accepted()
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "publish": "orders.other" }] }""", place: "a-folder");

        Assert.That(processes.Errors.All, Is.Empty);
    }

    [Test]
    public void Request_that_nobody_answers_is_refused()
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "request": "orders.unheard" }] }""");

        Assert.That(processes.Errors.All.Single().Code, Is.EqualTo("ESB-CFG-REQUEST"));
    }

    [Test]
    public void Request_that_one_endpoint_answers_is_accepted()
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "request": "orders.query" }] }""");

        Assert.That(processes.Errors.All, Is.Empty);
    }

    [TestCase("""{ "call": "door" }""", "ESB-CFG-REF")]
    [TestCase("""{ "call": "backnd" }""", "ESB-CFG-REF")]
    [TestCase("""{ "run": "nothing" }""", "ESB-CFG-REF")]
    [TestCase("""{ "publish": "order.new" }""", "ESB-CFG-REF")]
    [TestCase("""{ "set": { "headers": { "esb-key": "x" } } }""", "ESB-CFG-HEADER")]
    [TestCase("""{ "call": { "endpoint": "backend", "expect": "good" } }""", "ESB-CFG-VALUE")]
    [TestCase("""{ "applyPolicy": "lines" }""", "ESB-CFG-UNAVAILABLE")]
    [TestCase("""{ "publsh": "orders.new" }""", "ESB-CFG-UNKNOWN")]
    public void Step_that_cannot_work_is_refused(string step, string code)
    {
        using var processes = new CompiledProcesses($$"""{ "main": [{{step}}] }""");

        Assert.That(processes.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { code }));
    }

    [Test]
    public void All_errors_of_a_process_are_told_at_once()
    {
        using var processes = new CompiledProcesses(
            """
            { "main": [{ "filter": { "xpath": "///" } }, { "filter": { "xpath": "no:prefix" } }, { "choose": { "when": [{ "if": { "jsonpath": "$$" }, "steps": [{ "log": "{nothing.here}" }] }] } }] }
            """
        );

        Assert.That(processes.Errors.All, Has.Count.EqualTo(4));
    }
}
