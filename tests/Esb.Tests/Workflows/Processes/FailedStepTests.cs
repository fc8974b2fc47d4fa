using Esb.Core.Processes;

namespace Esb.Tests.Workflows.Processes;

public sealed class FailedStepTests
{
    [TestCase("""{ "main": [{ "log": "x" }, { "fail": "No." }] }""", "processes.main[1].fail", TestName = "by where it stands")]
    [TestCase("""{ "main": [{ "fail": "No." }] }""", "processes.main[0].fail", TestName = "also alone")]
    [TestCase("""{ "main": [{ "log": "x" }, { "id": "refusal", "fail": "No." }] }""", "refusal", TestName = "by its id")]
    [TestCase("""{ "main": [{ "log": "x" }, { "try": { "steps": [{ "log": "y" }, { "id": "inner", "fail": "No." }] } }] }""", "inner", TestName = "the innermost")]
    [TestCase("""{ "main": [{ "try": { "steps": [{ "id": "first", "fail": "No." }], "catch": [{ "steps": [{ "log": "y" }] }] } }, { "id": "second", "fail": "No." }] }""", "second", TestName = "not one that was caught")]
    public void Failure_leaves_word_of_its_step(string processes, string step)
    {
        using var compiled = new CompiledProcesses(processes);
        Assert.That(compiled.Errors.All, Is.Empty);
        var context = Some.Context();

        Assert.That(async () => await compiled.Main.RunAsync(context, default), Throws.Exception);

        Assert.That(context.FailedStep, Is.EqualTo(step));
    }

    [Test]
    public async Task Process_that_goes_well_leaves_none()
    {
        using var compiled = new CompiledProcesses("""{ "main": [{ "try": { "steps": [{ "fail": "No." }], "catch": [{ "steps": [{ "log": "y" }] }] } }] }""");

        MessageContext context = await compiled.RunAsync(Some.Message(), default);

        Assert.That(context.FailedStep, Is.Null);
    }
}
