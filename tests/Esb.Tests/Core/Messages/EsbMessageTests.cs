using Esb.Core.Messages;
using Esb.Tests.Fakes;

namespace Esb.Tests.Messages;

public sealed class EsbMessageTests
{
    [Test]
    public void A_new_message_begins_a_conversation_with_an_id_that_sorts_by_time()
    {
        var time = new ManualTime();
        var first = EsbMessage.Create(MessageBody.Empty, time);
        time.Advance(TimeSpan.FromMilliseconds(1));
        var second = EsbMessage.Create(MessageBody.Empty, time);

        Assert.Multiple(() =>
        {
            Assert.That(first.Id.Version, Is.EqualTo(7));
            Assert.That(first.ConversationId, Is.EqualTo(first.Id));
            Assert.That(first.CreatedAt, Is.EqualTo(time.GetUtcNow() - TimeSpan.FromMilliseconds(1)));
            Assert.That(string.CompareOrdinal(first.Id.ToString(), second.Id.ToString()), Is.Negative);
            Assert.That((first.Subject, first.Attempt, first.Headers.Count), Is.EqualTo(("", 0, 0)));
        });
    }

    [Test]
    public void A_changed_header_shares_the_body_and_leaves_the_original()
    {
        var original = Some.Message() with { Headers = MessageHeaders.Empty.With("x-a", "1") };

        var changed = original with { Headers = original.Headers.With("x-a", "2") };

        Assert.That(changed.Body, Is.SameAs(original.Body));
        Assert.That((original.Headers["x-a"], changed.Headers["x-a"]), Is.EqualTo(("1", "2")));
    }

    [Test]
    public void A_reply_belongs_to_the_conversation_and_has_the_same_id_each_time()
    {
        var request = Some.Message();

        var reply = request.Reply(MessageBody.FromText("yes"), TimeProvider.System);
        var again = request.Reply(MessageBody.FromText("yes"), TimeProvider.System);

        Assert.That((reply.ConversationId, reply.CorrelationId), Is.EqualTo((request.ConversationId, request.Id.ToString())));
        Assert.That(reply.Id, Is.Not.EqualTo(request.Id).And.EqualTo(again.Id));
    }
}
