using Esb.Core;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Crashes;

/// <summary>Finds the endpoint whose queue kills the process, and keeps it closed. Thread-safe.</summary>
/// <remarks>
/// A message that kills while it is read is found by nobody else: <see cref="Suspects"/> sees it only once it is delivered. So after an end
/// without a stop the queues are
/// opened one after another, each with a mark on disk; an endpoint whose mark was left by two processes in a row is quarantined until an
/// operator resumes it.
/// The mark is taken off before a message is worked on: what kills then is found by <see cref="Suspects"/>.
/// Where messages do not survive the process, there is nothing to find.
/// </remarks>
internal sealed partial class CrashQuarantine(IHostRunStore store, ITopicTransport transport, TimeProvider time, ILogger<CrashQuarantine> logger) : IBusPart, IHealthNotices, IDisposable
{
    // A process may be killed by somebody else at just that moment, once.
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
            lock (_gate) return [.. _released.Keys.Order(StringComparer.Ordinal).Select(endpoint => $"{Suspects.Code}: endpoint '{endpoint}' is quarantined: {Reason}")];
        }
    }

    private static string Reason => $"the process died {MostDeaths} times in a row while it opened the queue; look at the queue, then resume the endpoint";

    private bool IsAfterDeath => _before.IsRunning;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (transport.IsDurable) _before = Read();
        var quarantined = _before.Quarantined;
        if (_before is { IsRunning: true, Opening: { } culprit, Openings: >= MostDeaths })
        {
            quarantined = [.. quarantined.Append(culprit).Distinct()];
            DeliveryTelemetry.CountQuarantined(culprit);
        }

        lock (_gate)
        {
            foreach (var endpoint in quarantined) _released[endpoint] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Write(new HostRun { IsRunning = true, Quarantined = quarantined });
        }

        foreach (var endpoint in quarantined) LogQuarantined(Suspects.Code, endpoint, Reason);
        if (IsAfterDeath) LogCareful();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        lock (_gate) Write(_run with { IsRunning = false, Opening = null, Openings = 0 });
        return Task.CompletedTask;
    }

    /// <summary>Why an endpoint is kept closed; null where it is not.</summary>
    public string? ReasonOf(string endpoint)
    {
        lock (_gate) return _released.ContainsKey(endpoint) ? $"{Suspects.Code}: {Reason}" : null;
    }

    /// <summary>Whether opening an endpoint takes its time, as <see cref="EnterAsync"/> waits.</summary>
    public bool IsCareful(string endpoint)
    {
        lock (_gate) return (IsAfterDeath && !_opened.Contains(endpoint)) || _released.ContainsKey(endpoint);
    }

    /// <summary>Whether the queue of an endpoint is being read for the first time, and a death now would be the endpoint's.</summary>
    public bool IsMarked(string endpoint)
    {
        lock (_gate) return _run.Opening == endpoint;
    }

    /// <summary>Waits until an endpoint may be opened: until it is its turn, and an operator has released it from quarantine.</summary>
    /// <returns>Its first moments, to be disposed after them; null where no care is needed.</returns>
    public async Task<EndpointOpening?> EnterAsync(string endpoint, CancellationToken cancellationToken)
    {
        if (!IsCareful(endpoint)) return null;
        await WaitForReleaseAsync(endpoint, cancellationToken);
        await _turn.WaitAsync(cancellationToken);
        lock (_gate)
        {
            _opened.Add(endpoint); // a later exchange of its settings finds nothing new in its queue
            var before = _before.Opening == endpoint ? _before.Openings : 0;
            _before = _before with { Opening = null, Openings = 0 };
            Write(_run with { Opening = endpoint, Openings = before + 1 });
        }

        return new EndpointOpening(endpoint, time, Unmark, () => _turn.Release());
    }

    /// <summary>Lets an endpoint out of quarantine, where it is in it.</summary>
    public void Release(string endpoint)
    {
        lock (_gate)
        {
            if (!_released.Remove(endpoint, out var released)) return;
            Write(_run with { Quarantined = [.. _released.Keys] });
            released.SetResult();
        }

        LogReleased(endpoint);
    }

    public void Dispose() => _turn.Dispose();

    private async Task WaitForReleaseAsync(string endpoint, CancellationToken cancellationToken)
    {
        TaskCompletionSource? released;
        lock (_gate) released = _released.GetValueOrDefault(endpoint);
        if (released is not null) await released.Task.WaitAsync(cancellationToken);
    }

    private void Unmark()
    {
        lock (_gate) Write(_run with { Opening = null, Openings = 0 });
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

    // A disk that is full keeps no endpoint closed.
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

    [LoggerMessage(EventId = 2453, Level = LogLevel.Warning, Message = "The last process of this host ended without being stopped; the queues of the endpoints are opened one after another")]
    private partial void LogCareful();

    [LoggerMessage(EventId = 2454, Level = LogLevel.Information, Message = "Endpoint {Endpoint} is released from quarantine")]
    private partial void LogReleased(string endpoint);

    [LoggerMessage(EventId = 2455, Level = LogLevel.Warning, Message = "The state of the host could not be kept: should the process die, the next one does not know at which endpoint")]
    private partial void LogNotKept(Exception exception);
}
