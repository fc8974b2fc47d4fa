using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics;

/// <summary>Whoever waits for a reply has neither a timer nor a queue of his own.</summary>
[TestFixture]
public sealed class RequestTimerTests : BrokerFixture
{
    private const int Requests = 200;

    [Test, CancelAfter(60_000)]
    public async Task Requests_share_one_queue_and_start_no_timer(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                await delivery.Reply!(delivery.Message.Reply(delivery.Message.Body, TimeProvider.System), token);
                return Settlement.Done;
            },
            Subscription("prices.get") with
            {
                Concurrency = 8,
            }
        );
        var witness = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await Foreign.QueueBindAsync(witness, Broker.Names.Topic("prices"), "prices.get", cancellationToken: cancellationToken);
        var time = new CountingTime();
        await using var asking = Broker.CreateTransport(Topics, time: time);
        await asking.StartAsync(cancellationToken);
        await AskAsync(asking, Requests, cancellationToken); // opens what they share

        var (started, before) = (time.GetTimestamp(), time.Timers);
        await AskAsync(asking, Requests, cancellationToken);
        var (timers, seconds) = (time.Timers - before, (int)time.GetElapsedTime(started).TotalSeconds);
        var queues = new HashSet<string?>();
        for (var i = 0; i < 2 * Requests; i++)
            queues.Add((await GetForeignAsync(witness, cancellationToken)).BasicProperties.ReplyTo);

        Assert.That(timers, Is.LessThan(Requests / 10 * (1 + seconds)), "what looks after connections may start some each second");
        Assert.That(queues, Has.Count.EqualTo(1));
    }

    private static Task AskAsync(ITopicTransport transport, int count, CancellationToken cancellationToken) =>
        Task.WhenAll(
            Enumerable
                .Range(0, count)
                .Select(number => transport.RequestAsync(Message("prices.get", $"{number}"), TimeSpan.FromSeconds(10), cancellationToken))
        );

    private sealed class CountingTime : TimeProvider
    {
        private int _timers;

        public int Timers => Volatile.Read(ref _timers);

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            Interlocked.Increment(ref _timers);
            return base.CreateTimer(callback, state, dueTime, period);
        }
    }
}
