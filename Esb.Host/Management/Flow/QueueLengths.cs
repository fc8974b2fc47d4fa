using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Host.Management.Events;

namespace Esb.Host.Management.Flow;

/// <summary>Counts the messages in the queues of the endpoints while the rates of this host are read. Thread-safe.</summary>
/// <remarks>A count asks the broker once for each queue, and takes at most a tenth of the time, however many queues there are.</remarks>
internal sealed partial class QueueLengths(
    EventStream stream,
    Live<EndpointModels> endpoints,
    ITopicTransport transport,
    TimeProvider time,
    ILogger<QueueLengths> logger
) : IBusPart, IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);
    private static readonly IReadOnlyDictionary<string, long> None = new Dictionary<string, long>();

    private readonly CancellationTokenSource _stopping = new();
    private Task _counting = Task.CompletedTask;

    /// <summary>Messages that wait for an endpoint, without those in progress; endpoints for which none wait are left out.</summary>
    public IReadOnlyDictionary<string, long> Current { get; private set; } = None;

    public BusStage Stage => BusStage.Outbound;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _counting = CountAsync(_stopping.Token);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _counting;
    }

    public void Dispose() => _stopping.Dispose();

    private async Task CountAsync(CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                var began = time.GetTimestamp();
                if (stream.IsWanted(BusEventKind.Rates))
                    await LookAsync(stopping);
                else
                    Current = None;
                var rest = 9 * time.GetElapsedTime(began);
                await Task.Delay(rest > Interval ? rest : Interval, time, stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The host is stopping.
        }
    }

    /// <summary>Counts once.</summary>
    internal async Task LookAsync(CancellationToken cancellationToken)
    {
        try
        {
            var counted = new Dictionary<string, long>();
            foreach (var endpoint in endpoints.Current.Outbound.Select(model => model.Config))
            {
                if (endpoint is not { Enabled: true, Subscribe.Count: > 0 })
                    continue;
                if (await transport.CountWaitingAsync(Subscription.Of(endpoint), cancellationToken) is > 0 and var waiting)
                    counted[endpoint.Name] = waiting;
            }

            Current = counted;
        }
        catch (EsbException ex)
        {
            Current = None; // unknown; the health of the transport is reported by its own check
            LogNotCounted(ex);
        }
    }

    [LoggerMessage(EventId = 5131, Level = LogLevel.Debug, Message = "The messages in the queues could not be counted")]
    private partial void LogNotCounted(Exception exception);
}
