using Esb.Core;
using Esb.Core.Planning;
using Esb.Core.Topics;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Control;

/// <summary>Releases the queues of an endpoint while they are replaced, and resumes consuming on command or after a time-out.</summary>
internal sealed partial class QueueHolds(IFarm farm, OutboundEndpoints endpoints, TimeProvider time, ILogger<QueueHolds> logger) : IBusPart
{
    private static readonly TimeSpan LongestHold = TimeSpan.FromMinutes(3); // as long as a migration may take
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly Dictionary<string, DateTimeOffset> _until = [];
    private readonly CancellationTokenSource _stopping = new();
    private IDisposable? _answering;
    private Task _running = Task.CompletedTask;

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(OutboundEndpoints)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _answering = farm.Answer<LetGoOfQueues, QueuesLetGo>(ObeyAsync);
        _running = LookAsync(_stopping.Token);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        _answering?.Dispose();
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task<QueuesLetGo> ObeyAsync(LetGoOfQueues question, CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            if (question.For <= TimeSpan.Zero)
                await TakeAgainAsync(question.Endpoint, cancellationToken);
            else
                await LetGoAsync(question.Endpoint, question.For, cancellationToken);
            return new QueuesLetGo();
        }
        finally
        {
            _gate.Release();
        }
    }

    private async Task LetGoAsync(string endpoint, TimeSpan span, CancellationToken cancellationToken)
    {
        if (endpoints.Find(endpoint) is not { } controller)
            return;
        _until[endpoint] = time.GetUtcNow() + (span < LongestHold ? span : LongestHold); // set first, so that the hold always expires
        await controller.HoldAsync(isHeld: true, cancellationToken);
        LogLetGo(endpoint);
    }

    private async Task TakeAgainAsync(string endpoint, CancellationToken cancellationToken)
    {
        if (!_until.Remove(endpoint) || endpoints.Find(endpoint) is not { } controller)
            return;
        await controller.HoldAsync(isHeld: false, cancellationToken);
        LogTakenAgain(endpoint);
    }

    private async Task LookAsync(CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                await Task.Delay(LookInterval, time, stopping);
                await _gate.WaitAsync(stopping);
                try
                {
                    foreach (var endpoint in _until.Where(hold => hold.Value <= time.GetUtcNow()).Select(hold => hold.Key).ToList())
                        await TakeAgainAsync(endpoint, stopping);
                }
                finally
                {
                    _gate.Release();
                }
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The host stops.
        }
    }

    [LoggerMessage(
        EventId = 2446,
        Level = LogLevel.Information,
        Message = "Endpoint {Endpoint} released its queues: they are being replaced"
    )]
    private partial void LogLetGo(string endpoint);

    [LoggerMessage(EventId = 2447, Level = LogLevel.Information, Message = "Endpoint {Endpoint} takes its queues again")]
    private partial void LogTakenAgain(string endpoint);
}
