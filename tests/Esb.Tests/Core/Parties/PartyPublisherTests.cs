using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Parties;
using Esb.Core.Processes;
using Esb.Core.Topics;
using NSubstitute;

namespace Esb.Tests.Parties;

public sealed class PartyPublisherTests
{
    private static readonly Subject Allowed = new("orders.new");
    private static readonly Subject Forbidden = new("invoices.new");

    private ITopicPublisher _inner = null!;
    private PartyPublisher _publisher = null!;

    [SetUp]
    public void CreatePublisher() =>
        _publisher = new PartyPublisher(
            _inner = Substitute.For<ITopicPublisher>(),
            new PartyDirectory(
                PartyConfigurations
                    .Read(
                        """{ "topics": { "orders": {}, "invoices": {} }, "parties": { "shop": { "publish": ["orders.*"] }, "guest": {} } }"""
                    )
                    .Named<PartyConfig>("parties")
            )
        );

    [
        TestCase("shop", "orders.new", true),
        TestCase("shop", "orders.new.late", false),
        TestCase("shop", "invoices.new", false),
        TestCase("guest", "orders.new", false)
    ]
    [TestCase(null, "invoices.new", true), TestCase("of another bus", "invoices.new", true)]
    public async Task Party_publishes_what_it_may(string? party, string subject, bool passes)
    {
        var context = Context(party);

        var refusal = await RefusalAsync(() => _publisher.PublishAsync(context, new Subject(subject), "step", CancellationToken.None));

        Assert.That(
            (refusal?.Code, refusal?.Status, refusal?.IsTransient),
            Is.EqualTo(passes ? ((string?)null, (int?)null, (bool?)null) : ("ESB-PARTY-SUBJECT", 403, false))
        );
        Assert.That(_inner.ReceivedCalls().Count(), Is.EqualTo(passes ? 1 : 0));
    }

    [Test]
    public async Task Requests_are_held_to_the_same()
    {
        var refusal = await RefusalAsync(() =>
            _publisher.RequestAsync(Context("shop"), Forbidden, TimeSpan.FromSeconds(1), "step", CancellationToken.None)
        );

        Assert.That(refusal?.Code, Is.EqualTo("ESB-PARTY-SUBJECT"));
    }

    [Test]
    public async Task Answer_of_a_call_is_published_for_the_party_that_called()
    {
        var context = Context("shop");
        context.Message = context.Message.Reply(MessageBody.FromText("answer"), TimeProvider.System);

        await _publisher.PublishAsync(context, Allowed, "step", CancellationToken.None);
        var refusal = await RefusalAsync(() => _publisher.PublishAsync(context, Forbidden, "step", CancellationToken.None));

        Assert.That((context.Message.Party, refusal?.Code), Is.EqualTo(("shop", "ESB-PARTY-SUBJECT")));
    }

    [Test]
    public async Task Copies_for_those_who_look_on_are_the_operators()
    {
        var refusal = await RefusalAsync(async () =>
            await _publisher.CopyAsync(Context("shop"), Forbidden, "step", CancellationToken.None)
        );

        Assert.That(refusal, Is.Null);
    }

    private static MessageContext Context(string? party) =>
        new(EsbMessage.Create(MessageBody.FromText("body"), TimeProvider.System) with { Party = party }, "in");

    private static async Task<EsbException?> RefusalAsync(Func<ValueTask> publish)
    {
        try
        {
            await publish();
            return null;
        }
        catch (EsbException ex)
        {
            return ex;
        }
    }
}
