using Esb.Core.Audit;
using Esb.Tests.Fakes;

namespace Esb.Tests.Audit.Recording;

[Property("Case", "AUD-02")]
public sealed class MaskedFlowTests
{
    private static readonly SecretBodies Mask = new();

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
        MaskedFlow.Follow(Mask, Some.Message("4111"));

        MaskedFlow.Follow([null]);
        await Task.Yield();

        Assert.That(MaskedFlow.Clean("4111"), Is.EqualTo("****"));
    }

    private static async Task<MaskedSubject?> SubjectOfAsync(string body)
    {
        MaskedFlow.Follow(Mask, Some.Message(body));
        await Task.Yield();
        return MaskedFlow.Subject;
    }
}
