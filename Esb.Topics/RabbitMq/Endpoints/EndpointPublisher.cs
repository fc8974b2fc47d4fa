using Esb.Core.Brokers;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Topology;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Endpoints;

/// <summary>Publishes the messages of an endpoint over a connection of its own, each confirmed. Thread-safe.</summary>
internal sealed class EndpointPublisher : IBrokerPublisher
{
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(10);

    private readonly BrokerConnection _connection;
    private readonly ConfirmedChannel[] _channels;
    private readonly TimeProvider _time;
    private readonly Task _connecting;
    private readonly CancellationTokenSource _stopping = new();
    private uint _next;
    private int _disposed;

    public EndpointPublisher(RabbitMqAddress address, string name, BrokerLayout layout, TimeProvider time, ILogger logger)
    {
        _time = time;
        Place = new BrokerPlace(address.Nodes[0].Host, address.Nodes[0].Port, address.VirtualHost, address.IsTls);
        _connection = new BrokerConnection(
            address.ToFactory(name),
            (connection, token) => connection.ApplyAsync(layout, token),
            time,
            logger
        );
        _channels = [.. Enumerable.Range(0, 2).Select(_ => new ConfirmedChannel(_connection, time))];
        _connecting = _connection.StartAsync(_stopping.Token);
    }

    public BrokerPlace Place { get; }

    public async ValueTask<BrokerResult> PublishAsync(BrokerMessage message)
    {
        await WaitForFirstAttemptAsync();
        if (_connection.Obstacle is { } obstacle)
            return new BrokerResult(PublishOutcome.Refused, obstacle) { IsOutage = true };
        var channel = _channels[Interlocked.Increment(ref _next) % (uint)_channels.Length];
        var result = await channel.PublishAsync(
            message.Exchange,
            message.RoutingKey,
            message.IsMandatory,
            EndpointWire.Properties(message),
            message.Body,
            Deadline
        );
        return result switch
        {
            { Outcome: PublishOutcome.Confirmed } => BrokerResult.Confirmed,
            _ when result == ConfirmedChannel.NoQueue => BrokerResult.Unroutable,
            _ => new BrokerResult(result.Outcome, result.Reason) { IsOutage = _connection.Obstacle is not null },
        };
    }

    public async Task<bool?> HasExchangeAsync(string exchange, CancellationToken cancellationToken)
    {
        await WaitForFirstAttemptAsync();
        if (_connection.Current is not { } connection)
            return null;
        try
        {
            return await connection.HasExchangeAsync(exchange, cancellationToken).WaitAsync(Deadline, _time, cancellationToken);
        }
        catch (Exception ex)
            when (ex
                    is OperationInterruptedException
                        or IOException
                        or ObjectDisposedException
                        or TimeoutException
                        or AlreadyClosedException
            )
        {
            return null;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 1)
            return;
        await _stopping.CancelAsync();
        await _connecting.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await _connection.DisposeAsync();
        foreach (var channel in _channels)
            await channel.DisposeAsync();
        _stopping.Dispose();
    }

    // The first message of an endpoint usually comes before its connection is open.
    private async ValueTask WaitForFirstAttemptAsync()
    {
        if (!_connecting.IsCompleted)
            await _connecting.WaitAsync(Deadline, _time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }
}
