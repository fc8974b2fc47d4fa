using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

public sealed class RabbitMqTopicTransportTests() : TopicTransportContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportOrderTests() : TransportOrderContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportRetryTests() : TransportRetryContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportDeadLetterTests() : TransportDeadLetterContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportRequestTests() : TransportRequestContract(new RabbitMqUnderTest())
{
    [Test, CancelAfter(60_000)]
    public async Task Reply_waits_while_no_host_takes_replies(CancellationToken cancellationToken)
    {
        var first = await Transport.ReceiveRepliesAsync((_, _, _) => ValueTask.CompletedTask, cancellationToken);
        while (!first.IsLive)
            await Task.Delay(20, cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "prices.get");
        var request = Message("prices.get");
        await Transport.PublishRequestAsync(request, TimeSpan.FromSeconds(20), cancellationToken);
        var address = (await inbox.NextAsync(cancellationToken)).ReplyAddress!();
        await first.DisposeAsync();

        var isAwaited = await ((IReplyAddresses)Transport).ReplyAsync(
            address,
            request.Reply(MessageBody.FromText("7"), TimeProvider.System),
            cancellationToken
        );
        var taken = new TaskCompletionSource<(Guid, string)>();
        await using var second = await (await OtherHostAsync()).ReceiveRepliesAsync(
            (id, reply, _) =>
            {
                taken.TrySetResult((id, reply.Body.ReadText()));
                return ValueTask.CompletedTask;
            },
            cancellationToken
        );

        Assert.That(isAwaited, Is.True);
        Assert.That(await taken.Task.WaitAsync(cancellationToken), Is.EqualTo((request.Id, "7")));
    }
}

public sealed class RabbitMqTransportQueueTests() : TransportQueueContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportSubscriptionTests() : TransportSubscriptionContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportUnroutableTests() : TransportUnroutableContract(new RabbitMqUnderTest());
