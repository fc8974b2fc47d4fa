using Esb.Core.Audit;
using Esb.Core.Messages;
using NSubstitute;

namespace Esb.Tests.Audit.Recording;

[Property("Case", "AUD-02")]
public sealed class MaskedFlowTests
{
    private readonly IMessageMask _mask = Substitute.For<IMessageMask>();

    [SetUp]
    public void MaskBodies() => _mask.Apply(default!).ReturnsForAnyArgs(call => new MaskedMessage(
        call.Arg<EsbMessage>(), AuditBodyState.Masked, MaskedSecrets.From(new Dictionary<string, string> { [call.Arg<EsbMessage>().Body.ReadText()] = "****" })));

    [Test]
    public async Task One_that_does_the_work_of_many_flows_is_about_all_of_their_messages()
    {
        MaskedSubject?[] subjects = [await SubjectOfAsync("4111"), null, await SubjectOfAsync("4222")];

        await WorkAsync();

        Assert.That(MaskedFlow.Clean("4111 4222"), Is.EqualTo("4111 4222"), "it ends with its method");

        async Task WorkAsync()
        {
            MaskedFlow.Follow(subjects);
            await Task.Yield();
            Assert.That(MaskedFlow.Clean("4111 4222 4333"), Is.EqualTo("**** **** 4333"));
        }
    }

    [Test]
    public async Task Without_a_subject_the_flow_stays_about_what_it_was()
    {
        MaskedFlow.Follow(_mask, Some.Message("4111"));

        MaskedFlow.Follow([null]);
        await Task.Yield();

        Assert.That(MaskedFlow.Clean("4111"), Is.EqualTo("****"));
    }

    private async Task<MaskedSubject?> SubjectOfAsync(string body)
    {
        MaskedFlow.Follow(_mask, Some.Message(body));
        await Task.Yield();
        return MaskedFlow.Subject;
    }
}
