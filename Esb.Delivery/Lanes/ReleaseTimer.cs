using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Lanes;

/// <summary>Checks once a second for parked keys of an endpoint that are due, and sends a release marker for each to its lane.</summary>
internal sealed partial class ReleaseTimer : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly string _endpoint;
    private readonly IParkingStore _store;
    private readonly IEndpointQueues _queues;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;
    private bool _isAway;

    public ReleaseTimer(string endpoint, IParkingStore store, IEndpointQueues queues, TimeProvider time, ILogger<ReleaseTimer> logger)
    {
        (_endpoint, _store, _queues, _time, _logger) = (endpoint, store, queues, time, logger);
        _running = RunAsync(_stopping.Token);
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
        _stopping.Dispose();
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Interval, _time);
        try
        {
            while (await timer.WaitForNextTickAsync(stopping))
                await SendDueAsync(stopping);
        }
        catch (Exception) when (stopping.IsCancellationRequested)
        {
            // Disposed.
        }
    }

    private async Task SendDueAsync(CancellationToken stopping)
    {
        try
        {
            foreach (var key in await _store.TakeDueAsync(_endpoint, stopping))
                // a lost marker is sent again
                await _queues.SendAsync(_endpoint, ReleaseMarker.Of(_endpoint, key, _time), DeliveryKind.Release, stopping);
            _isAway = false;
        }
        catch (Exception ex) when (!stopping.IsCancellationRequested)
        {
            if (!_isAway)
                LogAway(_endpoint, ex); // any exception: if the loop ended, parked keys would never be released
            _isAway = true;
        }
    }

    [LoggerMessage(EventId = 2443, Level = LogLevel.Warning, Message = "Parked keys of {Endpoint} are not released for now")]
    private partial void LogAway(string endpoint, Exception exception);
}
