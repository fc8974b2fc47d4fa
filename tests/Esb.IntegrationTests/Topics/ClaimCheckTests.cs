using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Storage.Files.Claims;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics;

/// <summary>Large bodies travel as a reference, and nobody who subscribes here notices.</summary>
[TestFixture]
public sealed class ClaimCheckTests : ClaimCheckFixture
{
    [TestCase("orders.large", 2_000, true)]
    [TestCase("orders.small", 1_000, false)]
    [TestCase("foreign.large", 2_000, false)]
    [CancelAfter(60_000)]
    public async Task A_large_body_travels_as_a_reference_unless_foreign_clients_read_the_topic(
        string subject,
        int length,
        bool isReference,
        CancellationToken cancellationToken
    )
    {
        var inbox = await SubscribeAsync(Subscription(subject));
        var queue = await ListenAsync(subject, cancellationToken);
        var message = Message(subject, new string('x', length));

        var result = await Transport.PublishAsync(message, cancellationToken);
        var onTheWire = await GetAsync(queue, cancellationToken);
        var delivered = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That(result.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(
            (onTheWire.Body.Length, onTheWire.BasicProperties.Headers!.ContainsKey("esb-claim")),
            Is.EqualTo((isReference ? 0 : length, isReference))
        );
        Assert.That(
            (delivered.Body.ReadText(), delivered.Headers.Count, delivered.Id),
            Is.EqualTo((message.Body.ReadText(), 1, message.Id))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task The_reference_survives_retries_and_the_dead_letter_holds_the_body(CancellationToken cancellationToken)
    {
        var bodies = new List<string>();
        await SubscribeAsync(
            Subscription("orders.#"),
            delivery =>
            {
                bodies.Add(delivery.Message.Body.ReadText());
                return delivery.Message.Attempt == 0
                    ? new Settlement.Later(TimeSpan.FromMilliseconds(200), 1)
                    : new Settlement.Divert(new DeadLetter(delivery.Message, "e", "ESB-TEST", "r", null, 1, default, default));
            }
        );

        await Transport.PublishAsync(Message("orders.large", Large), cancellationToken);
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(bodies, Is.EqualTo(new[] { Large, Large }));
        Assert.That((letter.Message.Body.ReadText(), letter.Message.Headers[EsbHeaders.Claim]), Is.EqualTo((Large, (string?)null)));
        Assert.That(
            Folder.GetFiles("*.body", SearchOption.AllDirectories),
            Has.Length.EqualTo(2),
            "to its reader it travels as a reference too"
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_message_that_is_sent_to_an_endpoint_travels_as_a_reference_too(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.large");
        var inbox = await SubscribeAsync(subscription);

        var result = await Transport.SendAsync(
            subscription.Endpoint,
            Message("orders.large", Large),
            DeliveryKind.Replay,
            cancellationToken
        );
        var delivered = await inbox.NextAsync(cancellationToken);

        Assert.That(
            (result.Outcome, delivered.Kind, delivered.Message.Body.ReadText()),
            Is.EqualTo((PublishOutcome.Confirmed, DeliveryKind.Replay, Large))
        );
        Assert.That(Folder.GetFiles("*.body", SearchOption.AllDirectories), Has.Length.EqualTo(1));
    }

    [TestCase(true), TestCase(false), CancelAfter(60_000)]
    public async Task A_host_that_shares_the_folder_has_the_body_and_another_one_says_what_is_missing(
        bool sharesFolder,
        CancellationToken cancellationToken
    )
    {
        IClaimCheckStore place = sharesFolder
            ? new FolderClaimCheckStore(Folder.FullName, TimeSpan.FromDays(30), TimeProvider.System)
            : new NoClaimCheckStore();
        var other = Broker.CreateTransport(Topics, claims: place, largestWhole: 1_000);
        await using var disposing = other;
        await other.StartAsync(cancellationToken);
        var (subscription, inbox) = (Subscription("orders.#"), new Inbox());
        Broker.Note(subscription);
        await using var running = await other.SubscribeAsync(subscription, inbox.HandleAsync, cancellationToken);

        await Transport.PublishAsync(Message("orders.large", Large), cancellationToken);

        if (sharesFolder)
        {
            Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), Is.EqualTo(Large));
            return;
        }

        var letter = await NextDeadLetterAsync(cancellationToken); // here, where the body can be had
        Assert.That((letter.Code, letter.Message.Body.ReadText()), Is.EqualTo(("ESB-CLAIM-GONE", Large)));
        Assert.That(letter.Reason, Does.Contain("store.claims"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_body_that_is_gone_makes_a_dead_letter(CancellationToken cancellationToken)
    {
        await Transport.PublishAsync(Message("orders.large", Large), cancellationToken); // waits unroutable
        foreach (var body in Folder.GetFiles("*.body", SearchOption.AllDirectories))
            body.Delete();
        var subscription = Subscription("orders.#");
        var inbox = await SubscribeAsync(subscription);

        await Transport.Unroutable.ReplayAsync(subject: null, limit: 10, cancellationToken);
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(
            (letter.Code, letter.Endpoint, letter.Message.Subject),
            Is.EqualTo(("ESB-CLAIM-GONE", subscription.Endpoint, "orders.large"))
        );
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_store_that_is_away_holds_the_message_until_it_is_back(CancellationToken cancellationToken)
    {
        await Transport.PublishAsync(Message("orders.large", Large), cancellationToken);
        var away = new DirectoryInfo(Folder.FullName + "-away");
        Directory.Move(Folder.FullName, away.FullName);
        var inbox = await SubscribeAsync(Subscription("orders.#"));

        await Transport.Unroutable.ReplayAsync(subject: null, limit: 10, cancellationToken);
        await Task.Delay(500, cancellationToken); // long enough for a delivery that should not be
        var early = inbox.TryNext(out _);
        Directory.Move(away.FullName, Folder.FullName);

        Assert.That((early, (await inbox.NextAsync(cancellationToken)).Message.Body.ReadText()), Is.EqualTo((false, Large)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Requests_and_replies_have_their_bodies(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.get");
        Broker.Note(subscription);
        Running.Add(
            await Transport.SubscribeAsync(
                subscription,
                async (delivery, token) =>
                {
                    await delivery.Reply!(
                        delivery.Message.Reply(MessageBody.FromText(delivery.Message.Body.ReadText() + "y"), TimeProvider.System),
                        token
                    );
                    return Settlement.Done;
                },
                cancellationToken
            )
        );

        var reply = await Transport.RequestAsync(Message("orders.get", Large), TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That((reply.Body.ReadText(), reply.Headers[EsbHeaders.Claim]), Is.EqualTo((Large + "y", (string?)null)));
        Assert.That(Folder.GetFiles("*.body", SearchOption.AllDirectories), Has.Length.EqualTo(2));
    }
}
