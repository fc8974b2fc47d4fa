using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq.Receiving;
using NSubstitute;
using NSubstitute.ExceptionExtensions;
using RabbitMQ.Client;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

/// <summary>A channel of an endpoint without an order whose broker does not answer.</summary>
public sealed class ParallelSessionTests
{
    [Test, CancelAfter(30_000)]
    public async Task Channel_is_closed_also_where_the_cancel_of_its_consumer_is_not_answered(CancellationToken cancellationToken)
    {
        var channel = Substitute.For<IChannel>();
        channel.IsOpen.Returns(true);
        channel.BasicConsumeAsync(default!, default, default!, default, default, default, default!, default).ReturnsForAnyArgs("tag");
        channel.BasicCancelAsync(default!, default, default).ThrowsAsyncForAnyArgs(new TimeoutException());
        var connection = Substitute.For<IConnection>();
        connection.CreateChannelAsync(default, default).ReturnsForAnyArgs(channel);
        var session = await ParallelSession.OpenAsync(
            connection,
            "orders",
            prefetch: 1,
            new DeliveryWorkers(1, _ => Task.CompletedTask),
            new SeenDeliveries(),
            new ManualTime(),
            cancellationToken
        );

        await session.CancelAsync();
        await session.DisposeAsync();

        await channel.ReceivedWithAnyArgs(1).BasicCancelAsync(default!, default, default);
        await channel.ReceivedWithAnyArgs(1).CloseAsync(default(ushort), default!, default, default);
    }
}
