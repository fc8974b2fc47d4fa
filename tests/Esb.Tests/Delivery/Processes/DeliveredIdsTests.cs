using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Tests.Delivery.Processes;

/// <summary>Ids of what a process makes of a message that was delivered, which others may have got too.</summary>
public sealed class DeliveredIdsTests
{
    private static readonly EsbMessage Order = EsbMessage.Create(MessageBody.Empty, TimeProvider.System);

    [Test]
    public void Repetition_repeats_them()
    {
        var first = IdsAt("billing");

        Assert.That(IdsAt("billing"), Is.EqualTo(first));
    }

    [Test]
    public void Other_endpoint_has_others() => Assert.That(IdsAt("billing").Intersect(IdsAt("shipping")), Is.Empty);

    [Test]
    public void None_is_that_of_the_message_and_none_comes_twice() => Assert.That(IdsAt("billing").Append(Order.Id), Is.Unique);

    private static Guid[] IdsAt(string endpoint)
    {
        var context = new MessageContext(Order, endpoint) { IsDelivered = true };
        return
        [
            context.NextPublishId("p[0].publish"),
            context.NextPublishId("p[1].publish"),
            context.NextPublishId("p[1].publish"),
            context.NextCallId("backend", "p[2].call"),
            context.NextCallId("backend", "p[2].call"),
            context.NextCopyId("p[3].wireTap"),
            context.NextCopyId("p[3].wireTap"),
        ];
    }
}
