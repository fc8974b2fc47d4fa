using Esb.Core.Audit;
using Esb.Core.Processes;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Processes;

public sealed class FailedStepTests
{
    [TestCase("""{ "main": [{ "log": "x" }, { "fail": "No." }] }""", "processes.main[1].fail", TestName = "by where it stands")]
    [TestCase("""{ "main": [{ "fail": "No." }] }""", "processes.main[0].fail", TestName = "also alone")]
    [TestCase("""{ "main": [{ "log": "x" }, { "id": "refusal", "fail": "No." }] }""", "refusal", TestName = "by its id")]
    [TestCase(
        """{ "main": [{ "log": "x" }, { "try": { "steps": [{ "log": "y" }, { "id": "inner", "fail": "No." }] } }] }""",
        "inner",
        TestName = "the innermost"
    )]
    [TestCase(
        """{ "main": [{ "try": { "steps": [{ "id": "first", "fail": "No." }], "catch": [{ "steps": [{ "log": "y" }] }] } }, { "id": "second", "fail": "No." }] }""",
        "second",
        TestName = "not one that was caught"
    )]
    [TestCase(
        """{ "main": [{ "try": { "steps": [{ "id": "first", "fail": "No." }], "finally": [{ "id": "last", "fail": "No." }] } }] }""",
        "last",
        TestName = "the last one, where that fails too"
    )]
    [TestCase(
        """{ "main": [{ "try": { "steps": [{ "id": "first", "fail": "No." }], "finally": [{ "log": "y" }] } }] }""",
        "first",
        TestName = "not the last ones that went well"
    )]
    public void Failure_leaves_word_of_its_step(string processes, string step)
    {
        using var compiled = new CompiledProcesses(processes);
        Assert.That(compiled.Errors.All, Is.Empty);
        var context = Some.Context();

        Assert.That(async () => await compiled.Main.RunAsync(context, default), Throws.Exception);

        Assert.That(context.FailedStep, Is.EqualTo(step));
    }

    [Test, Property("Case", "AUD-02")]
    public async Task What_is_masked_in_the_message_when_a_step_fails_is_masked_also_once_the_message_is_another()
    {
        using var compiled = new CompiledProcesses(
            """{ "main": [{ "try": { "steps": [{ "fail": "No." }], "catch": [{ "steps": [{ "respond": { "body": "sorry" } }] }] } }] }"""
        );
        Assert.That(compiled.Errors.All, Is.Empty);
        var context = Some.Context("4111");
        context.Message = Some.Message("4222"); // what a call was answered
        MaskedFlow.Follow(new SecretBodies(), context);

        await compiled.Main.RunAsync(context, default);

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("sorry"));
        Assert.That(MaskedFlow.Clean("The cards 4111 and 4222 are refused."), Is.EqualTo("The cards **** and **** are refused."));
    }

    [Test]
    public async Task Process_that_goes_well_leaves_none()
    {
        using var compiled = new CompiledProcesses(
            """{ "main": [{ "try": { "steps": [{ "fail": "No." }], "catch": [{ "steps": [{ "log": "y" }] }] } }] }"""
        );

        MessageContext context = await compiled.RunAsync(Some.Message(), default);

        Assert.That(context.FailedStep, Is.Null);
    }
}
