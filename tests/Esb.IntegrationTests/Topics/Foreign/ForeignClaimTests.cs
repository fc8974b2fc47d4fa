using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Storage.Files.Claims;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Foreign;

/// <summary>What foreign clients see of references, and what theirs are worth.</summary>
[TestFixture]
public sealed class ForeignClaimTests : ClaimCheckFixture
{
    [Test, CancelAfter(60_000)]
    public async Task A_foreign_requester_gets_the_reply_itself(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            Subscription("orders.get"),
            delivery =>
            {
                _ = delivery
                    .Reply!(delivery.Message.Reply(MessageBody.FromText(Large), TimeProvider.System), CancellationToken.None)
                    .AsTask();
                return Settlement.Done;
            }
        );
        var queue = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;

        await PublishForeignAsync("orders.get", new BasicProperties { ReplyTo = queue, CorrelationId = "c" }, "question");

        Assert.That((await GetAsync(queue, cancellationToken)).Body.Length, Is.EqualTo(Large.Length));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_reference_of_a_foreign_client_is_worth_what_it_holds(CancellationToken cancellationToken)
    {
        var queue = await ListenAsync("orders.#", cancellationToken);
        await Transport.PublishAsync(Message("orders.large", Large), cancellationToken);
        var reference = Encoding.UTF8.GetString((byte[])(await GetAsync(queue, cancellationToken)).BasicProperties.Headers!["esb-claim"]!);
        var inbox = await SubscribeAsync(Subscription("orders.#"));

        await PublishForeignAsync("orders.given", Claiming(reference), "");
        var given = (await inbox.NextAsync(cancellationToken)).Message;
        await PublishForeignAsync("orders.whole", Claiming(reference), "a body of its own");
        var whole = (await inbox.NextAsync(cancellationToken)).Message;
        await PublishForeignAsync("orders.guessed", Claiming(reference[..^1] + (reference[^1] == '0' ? '1' : '0')), "");
        await PublishForeignAsync("orders.garbage", Claiming("../../etc/passwd"), "");
        // kept in the year 10889
        await PublishForeignAsync("orders.timeless", Claiming($"ffffffff-ffff-7fff-bfff-ffffffffffff.{new string('0', 64)}"), "");
        var letters = new[]
        {
            await NextDeadLetterAsync(cancellationToken),
            await NextDeadLetterAsync(cancellationToken),
            await NextDeadLetterAsync(cancellationToken),
        };

        Assert.That((given.Body.ReadText(), whole.Body.ReadText()), Is.EqualTo((Large, "a body of its own")));
        Assert.That(letters.Select(letter => letter.Code), Is.All.EqualTo("ESB-CLAIM-GONE"));
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    private static BasicProperties Claiming(string reference) =>
        new()
        {
            MessageId = Guid.NewGuid().ToString(),
            Headers = new Dictionary<string, object?> { ["esb-claim"] = reference },
        };
}
