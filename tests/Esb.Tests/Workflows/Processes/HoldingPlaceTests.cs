namespace Esb.Tests.Workflows.Processes;

public sealed class HoldingPlaceTests
{
    private const string Aggregate = """{ "aggregate": { "until": { "count": 2 } } }""";

    [TestCase("[{0}]", TestName = "Holding_stands_in_the_process")]
    [TestCase(
        """[{ "choose": { "when": [{ "if": { "header": "x" }, "steps": [{0}] }] } }, { "log": "behind" }]""",
        TestName = "Holding_stands_in_choose"
    )]
    [TestCase("""[{ "split": { "jsonpath": "$[*]", "steps": [{0}] } }]""", TestName = "Holding_stands_in_a_split")]
    [TestCase(
        """[{ "delay": "1h" }, { "resequence": { "sequence": { "header": "x-n" } } }, {0}]""",
        TestName = "Holding_steps_follow_one_another"
    )]
    [TestCase("""[{ "try": { "steps": [{ "delay": "30s" }], "finally": [] } }]""", TestName = "Short_delay_holds_nothing")]
    public void Steps_that_hold_messages_stand_where_what_is_behind_them_can_run_later(string process)
    {
        using var processes = Compile(process);

        Assert.That(processes.Errors.All, Is.Empty);
    }

    [TestCase("""[{ "try": { "steps": [{0}], "catch": [{ "codes": ["*"], "steps": [] }] } }]""", TestName = "Holding_is_refused_in_try")]
    [TestCase("""[{ "transaction": { "connection": "shop", "steps": [{0}] } }]""", TestName = "Holding_is_refused_in_a_transaction")]
    [TestCase(
        """[{ "split": { "jsonpath": "$[*]", "gather": "array", "steps": [{0}] } }]""",
        TestName = "Holding_is_refused_in_a_split_that_gathers"
    )]
    public void Steps_that_hold_messages_are_refused_inside_of_what_goes_on(string process)
    {
        using var processes = Compile(process);

        Assert.That(processes.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { "ESB-HOLD-PLACE" }));
    }

    [Test]
    public void Process_that_holds_messages_is_no_part_of_another_one()
    {
        using var processes = new CompiledProcesses($$"""{ "main": [{ "run": "held" }], "held": [{{Aggregate}}] }""");

        Assert.That(
            processes.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-HOLD-PLACE", "processes.main[0].run") })
        );
    }

    [Test]
    public void Endpoint_that_sends_does_not_hold_what_it_should_send()
    {
        using var processes = new CompiledProcesses($$"""{ "main": [], "held": [{{Aggregate}}] }""", prepared: "held");

        Assert.That(
            processes.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-HOLD-PLACE", "endpoints.backend.process") })
        );
    }

    [TestCase("""{ "aggregate": { "until": {} } }""", "ESB-CFG-REQUIRED")]
    [TestCase("""{ "aggregate": { "until": { "count": 2 }, "as": "spreadsheet" } }""", "ESB-CFG-REF")]
    [TestCase("""{ "aggregate": { "until": { "idle": "1ms" } } }""", "ESB-CFG-RANGE")]
    [TestCase("""{ "resequence": {} }""", "ESB-CFG-REQUIRED")]
    [TestCase("""{ "delay": "0s" }""", "ESB-CFG-RANGE")]
    [TestCase("""{ "delay": { "for": "1m", "until": { "header": "x-at" } } }""", "ESB-CFG-ONEOF")]
    public void Settings_that_cannot_work_are_refused(string step, string code)
    {
        using var processes = Compile($"[{step}]");

        Assert.That(processes.Errors.All.Select(error => error.Code), Does.Contain(code));
    }

    private static CompiledProcesses Compile(string process) =>
        new($$"""{ "main": {{process.Replace("{0}", Aggregate, StringComparison.Ordinal)}} }""");
}
