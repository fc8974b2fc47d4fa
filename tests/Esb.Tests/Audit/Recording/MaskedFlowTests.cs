using Esb.Core.Audit;
using Esb.Core.Messages;
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

    [Test]
    public async Task A_secret_that_does_not_fit_is_taken_out_before_the_text_is_cut()
    {
        MaskedFlow.Follow(Mask, Some.Message(new string('4', 400)));
        await Task.Yield();

        Assert.That(MaskedFlow.Excerpt($"The value '{new string('4', 400)}' is too long", 30), Is.EqualTo("The value '****' is too long"));
        Assert.That(MaskedFlow.Excerpt("The value '4000' is wrong", 16), Is.EqualTo("The value '4000'…"));
    }

    [Test]
    public async Task What_was_masked_in_the_message_when_a_step_failed_stays_so()
    {
        var context = Some.Context(Some.Message("4111"));
        MaskedFlow.Follow(Mask, context);
        await Task.Yield();
        context.Message = Some.Message("4222");
        MaskedFlow.Keep();

        context.Message = Some.Message("done");

        Assert.That(MaskedFlow.Clean("4111 4222"), Is.EqualTo("**** ****"));
    }

    [Test]
    public async Task A_mask_that_reads_the_message_may_tell_of_it_itself()
    {
        MaskedFlow.Follow(new TellingMask(), Some.Message("4111"));
        await Task.Yield();

        Assert.That(MaskedFlow.Clean("4111"), Is.EqualTo("****"));
        Assert.That(MaskedFlow.Clean("4111"), Is.EqualTo("****"), "it goes on");
    }

    private static async Task<MaskedSubject?> SubjectOfAsync(string body)
    {
        MaskedFlow.Follow(Mask, Some.Message(body));
        await Task.Yield();
        return MaskedFlow.Subject;
    }

    private sealed class TellingMask : IMessageMask
    {
        public bool IsEmpty => false;

        public MaskedMessage Apply(EsbMessage message) => Mask.Apply(message with { Subject = MaskedFlow.Clean("cannot be read") });
    }
}
