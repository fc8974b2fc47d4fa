using Esb.Core.Brokers;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Endpoints;

/// <summary>Reads the queue of an endpoint over a connection of its own: again after each loss of the connection, the channel or the
/// queue.</summary>
internal sealed partial class EndpointReader : IBrokerReader
{
    private static readonly TimeSpan FirstAttemptLimit = TimeSpan.FromSeconds(5); // the other endpoints start meanwhile

    private readonly BrokerReading _reading;
    private readonly BrokerConnection _connection;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly CancellationTokenSource _aborting = new();
    private readonly TaskCompletionSource _tried = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Task _connecting = Task.CompletedTask;
    private Task _running = Task.CompletedTask;
    private volatile string? _reason = "not connected yet";
    private volatile bool _isResting;
    private int _disposed;

    public EndpointReader(RabbitMqAddress address, string name, BrokerReading reading, TimeProvider time, ILogger logger)
    {
        (_reading, _time, _logger) = (reading, time, logger);
        _connection = new BrokerConnection(address.ToFactory(name), (_, _) => Task.CompletedTask, time, logger);
    }

    public string? Reason =>
        _isResting ? null
        : _reason is null ? null
        : _connection.Link is null ? _connection.Obstacle ?? _reason
        : _reason;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _connecting = _connection.StartAsync(_stopping.Token);
        _running = BrokerLoop.RunAsync(_connection, ReadAsync, _time, _stopping.Token);
        await WaitForFirstAttemptAsync()
            .WaitAsync(FirstAttemptLimit, _time, cancellationToken)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        cancellationToken.ThrowIfCancellationRequested();
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await using var abort = cancellationToken.Register(_aborting.Cancel);
        await _stopping.CancelAsync();
        await _running;
        cancellationToken.ThrowIfCancellationRequested();
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 1)
            return;
        await _aborting.CancelAsync();
        await _stopping.CancelAsync();
        await _running;
        await _connecting.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await _connection.DisposeAsync();
        _stopping.Dispose();
        _aborting.Dispose();
    }

    private async Task WaitForFirstAttemptAsync()
    {
        await _connecting;
        if (_connection.Link is not null)
            await _tried.Task;
    }

    // Runs until the queue cannot be read any more. A rest is no failure: it goes on as soon as deliveries can be handled.
    private async Task ReadAsync(IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        try
        {
            await connection.ApplyAsync(_reading.Layout, stopping);
            while (true)
            {
                await WaitForOpeningAsync(stopping);
                await using var session = await EndpointSession.OpenAsync(connection, _reading, _time, stopping, _aborting.Token);
                _reason = null;
                _tried.TrySetResult();
                backoff.Reset();
                var end = await session.Ended;
                await session.LeaveAsync(waits: stopping.IsCancellationRequested);
                if (end is null && !stopping.IsCancellationRequested)
                    continue;
                stopping.ThrowIfCancellationRequested();
                NoteFailure(end!);
                return;
            }
        }
        catch (Exception ex) when (!stopping.IsCancellationRequested)
        {
            NoteFailure(BrokerFault.Describe(ex));
            if (BrokerFault.IsForPeople(_reason!))
                backoff.Stretch();
        }
    }

    private async Task WaitForOpeningAsync(CancellationToken stopping)
    {
        if (_reading.WaitForOpening is null)
            return;
        _isResting = true;
        _tried.TrySetResult();
        try
        {
            await _reading.WaitForOpening(stopping);
        }
        finally
        {
            _isResting = false;
        }
    }

    private void NoteFailure(string reason)
    {
        if (_reason != reason)
            LogInterrupted(_reading.Endpoint, _reading.Layout.Queue!.Name, reason);
        _reason = reason;
        _tried.TrySetResult();
    }

    [LoggerMessage(
        EventId = 1570,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint} cannot read the queue {Queue}: {Reason}; trying again until it can"
    )]
    private partial void LogInterrupted(string endpoint, string queue, string reason);
}
