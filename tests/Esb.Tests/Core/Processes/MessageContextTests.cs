namespace Esb.Tests.Processes;

public sealed class MessageContextTests
{
    [Test]
    public void First_call_of_an_endpoint_keeps_the_id_and_each_further_one_has_its_own()
    {
        var message = Some.Message();

        var ids = Calls();

        Assert.That(ids[0], Is.EqualTo(message.Id));
        Assert.That(ids[1], Is.EqualTo(message.Id), "another endpoint");
        Assert.That(ids.Skip(1), Is.Unique);
        Assert.That(Calls(), Is.EqualTo(ids), "the same at every repetition");

        Guid[] Calls()
        {
            var context = Some.Context(message);
            return
            [
                context.NextCallId("a", "first"),
                context.NextCallId("b", "second"),
                context.NextCallId("a", "third"),
                context.NextCallId("a", "third"),
            ];
        }
    }
}
