using Esb.Core;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Crashes;

/// <summary>Identifies the endpoint whose queue crashes the process, and quarantines it. Thread-safe.</summary>
/// <remarks>
/// <see cref="Suspects"/> sees a message only once it is delivered; this class covers messages that crash the process while they are read.
/// After an unclean shutdown the queues are opened one after another, each with a mark on disk. An endpoint whose mark was left by two
/// processes in a row is quarantined until an operator resumes it.
/// The mark is removed before a message is processed; later crashes are handled by <see cref="Suspects"/>.
/// Without durable messages there is nothing to detect.
/// </remarks>
internal sealed partial class CrashQuarantine(
    IHostRunStore store,
    ITopicTransport transport,
    TimeProvider time,
    ILogger<CrashQuarantine> logger
) : IBusPart, IHealthNotices, IDisposable
{
    // A single crash while a queue opens may be a coincidence.
    private const int MostDeaths = 2;

    private readonly Lock _gate = new();
    private readonly SemaphoreSlim _turn = new(1, 1);
    private readonly Dictionary<string, TaskCompletionSource> _released = [];
    private readonly HashSet<string> _opened = [];
    private HostRun _run = new();
    private HostRun _before = new();

    public BusStage Stage => BusStage.Stores;

    public IReadOnlyList<Type> StartsAfter => [typeof(IStorePart)];

    public IEnumerable<string> Notices
    {
        get
        {
            lock (_gate)
                return
                [
                    .. _released
                        .Keys.Order(StringComparer.Ordinal)
                        .Select(endpoint => $"{Suspects.Code}: endpoint '{endpoint}' is quarantined: {Reason}"),
                ];
        }
    }

    private static string Reason =>
        $"the process died {MostDeaths} times in a row while it opened the queue; look at the queue, then resume the endpoint";

    private bool IsAfterDeath => _before.IsRunning;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (transport.IsDurable)
            _before = Read();
        var quarantined = _before.Quarantined;
        if (_before is { IsRunning: true, Opening: { } culprit, Openings: >= MostDeaths })
        {
            quarantined = [.. quarantined.Append(culprit).Distinct()];
            DeliveryTelemetry.CountQuarantined(culprit);
        }

        lock (_gate)
        {
            foreach (var endpoint in quarantined)
                _released[endpoint] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Write(new HostRun { IsRunning = true, Quarantined = quarantined });
        }

        foreach (var endpoint in quarantined)
            LogQuarantined(Suspects.Code, endpoint, Reason);
        if (IsAfterDeath)
            LogCareful();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
            Write(_run with { IsRunning = false, Opening = null, Openings = 0 });
        return Task.CompletedTask;
    }

    /// <summary>The reason for the quarantine of an endpoint; null if it is not quarantined.</summary>
    public string? ReasonOf(string endpoint)
    {
        lock (_gate)
            return _released.ContainsKey(endpoint) ? $"{Suspects.Code}: {Reason}" : null;
    }

    /// <summary>True if an endpoint must be opened with care, so that <see cref="EnterAsync"/> waits.</summary>
    public bool IsCareful(string endpoint)
    {
        lock (_gate)
            return (IsAfterDeath && !_opened.Contains(endpoint)) || _released.ContainsKey(endpoint);
    }

    /// <summary>True while the queue of an endpoint is first read, so that a crash would be attributed to the endpoint.</summary>
    public bool IsMarked(string endpoint)
    {
        lock (_gate)
            return _run.Opening == endpoint;
    }

    /// <summary>Waits until an endpoint may be opened: its turn has come, and an operator has released it from any quarantine.</summary>
    /// <returns>The guarded opening, to be disposed at its end; null if no care is needed.</returns>
    public async Task<EndpointOpening?> EnterAsync(string endpoint, CancellationToken cancellationToken)
    {
        if (!IsCareful(endpoint))
            return null;
        await WaitForReleaseAsync(endpoint, cancellationToken);
        await _turn.WaitAsync(cancellationToken);
        lock (_gate)
        {
            _opened.Add(endpoint); // a later change of its settings needs no care
            var before = _before.Opening == endpoint ? _before.Openings : 0;
            _before = _before with { Opening = null, Openings = 0 };
            Write(_run with { Opening = endpoint, Openings = before + 1 });
        }

        return new EndpointOpening(endpoint, time, Unmark, () => _turn.Release());
    }

    /// <summary>Releases an endpoint from quarantine, if it is quarantined.</summary>
    public void Release(string endpoint)
    {
        lock (_gate)
        {
            if (!_released.Remove(endpoint, out var released))
                return;
            Write(_run with { Quarantined = [.. _released.Keys] });
            released.SetResult();
        }

        LogReleased(endpoint);
    }

    public void Dispose() => _turn.Dispose();

    private async Task WaitForReleaseAsync(string endpoint, CancellationToken cancellationToken)
    {
        TaskCompletionSource? released;
        lock (_gate)
            released = _released.GetValueOrDefault(endpoint);
        if (released is not null)
            await released.Task.WaitAsync(cancellationToken);
    }

    private void Unmark()
    {
        lock (_gate)
            Write(_run with { Opening = null, Openings = 0 });
    }

    private HostRun Read()
    {
        try
        {
            return store.Read();
        }
        catch (EsbException ex)
        {
            LogNotKept(ex);
            return new HostRun();
        }
    }

    // A full disk does not keep an endpoint closed.
    private void Write(HostRun run)
    {
        _run = run;
        try
        {
            store.Write(run);
        }
        catch (EsbException ex)
        {
            LogNotKept(ex);
        }
    }

    [LoggerMessage(EventId = 2452, Level = LogLevel.Error, Message = "{Code}: endpoint {Endpoint} is quarantined: {Reason}")]
    private partial void LogQuarantined(string code, string endpoint, string reason);

    [LoggerMessage(
        EventId = 2453,
        Level = LogLevel.Warning,
        Message = "The last process of this host ended without being stopped; the queues of the endpoints are opened one after another"
    )]
    private partial void LogCareful();

    [LoggerMessage(EventId = 2454, Level = LogLevel.Information, Message = "Endpoint {Endpoint} is released from quarantine")]
    private partial void LogReleased(string endpoint);

    [LoggerMessage(
        EventId = 2455,
        Level = LogLevel.Warning,
        Message = "The state of the host could not be kept: should the process die, the next one does not know at which endpoint"
    )]
    private partial void LogNotKept(Exception exception);
}
