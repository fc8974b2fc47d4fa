using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Processes;

/// <summary>What steps put into properties stays masked, whatever becomes of the message that it was taken from.</summary>
[Property("Case", "AUD-02")]
public sealed class MaskedPropertyTests
{
    [Test]
    public async Task Body_in_a_property_is_masked_once_the_message_is_another()
    {
        using var compiled = new CompiledProcesses(
            """{ "main": [{ "set": { "properties": { "card": { "message": "body" } } } }, { "respond": { "body": "thanks" } }] }"""
        );
        var context = Some.Context("<order/>");
        context.Message = Some.Message("4222"); // what a call was answered
        MaskedFlow.Follow(new SecretBodies(), context);

        await compiled.RunAsync(context, default);

        Assert.That((context.GetProperty("card"), context.Message.Body.ReadText()), Is.EqualTo(("4222", "thanks")));
        Assert.That(MaskedFlow.Clean("The card 4222 is refused."), Is.EqualTo("The card **** is refused."));
    }

    [Test]
    public async Task Header_that_goes_into_a_property_and_away_at_once_is_masked()
    {
        using var compiled = new CompiledProcesses(
            """{ "main": [{ "set": { "headers": { "x-card": { "header": "x-none" } }, "properties": { "card": { "header": "x-card" } } } }] }"""
        );
        var context = Some.Context("<order/>");
        context.Message = Some.Message("answer") with { Headers = MessageHeaders.Empty.With("x-card", "4222") };
        MaskedFlow.Follow(new SecretCard(), context);

        await compiled.RunAsync(context, default);

        Assert.That((context.GetProperty("card"), context.Message.Headers["x-card"]), Is.EqualTo(("4222", default(string))));
        Assert.That(MaskedFlow.Clean("The card 4222 is refused."), Is.EqualTo("The card **** is refused."));
    }

    private sealed class SecretCard : IMessageMask
    {
        public bool IsEmpty => false;

        public MaskedMessage Apply(EsbMessage message) =>
            new(
                message,
                AuditBodyState.Masked,
                MaskedSecrets.From(message.Headers["x-card"] is { } card ? new Dictionary<string, string> { [card] = "****" } : [])
            );
    }
}
