using System.Diagnostics.Metrics;
using System.Globalization;
using Esb.Core;
using Esb.Core.Alerts;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>Periodically counts the open dead letters and parked keys of each endpoint, for health and metrics.</summary>
internal sealed partial class BacklogMonitor(
    IEnumerable<OutboundEndpointConfig> endpoints,
    IDeadLetterStore letters,
    IParkingStore parking,
    TimeProvider time,
    ILogger<BacklogMonitor> logger,
    IAlerts? alerts = null
) : IBacklogMonitor, IHealthNotices, IBusPart, IDisposable
{
    /// <summary>Stands for all endpoints that the configuration no longer names.</summary>
    public const string Other = "_other";

    private const int MaxKeys = 1_000; // for each endpoint

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(15);

    // While the store is away, so that its return shows soon.
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(3);

    private readonly HashSet<string> _names = [.. endpoints.Select(endpoint => endpoint.Name)];
    private readonly CancellationTokenSource _stopping = new();
    private readonly Meter _meter = new(EndpointsTelemetry.Meter.Name); // per host: gauges keep references to their sources
    private IReadOnlyList<EndpointBacklog> _backlogs = [];
    private DateTimeOffset? _countedAt;
    private volatile string? _trouble;
    private Task _counting = Task.CompletedTask;

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(OutboundEndpoints)];

    public Backlog Current
    {
        get
        {
            var backlogs = _backlogs;
            return new Backlog(
                backlogs.Sum(backlog => backlog.Letters),
                backlogs.Min(backlog => backlog.OldestLetter),
                backlogs.Sum(backlog => backlog.Keys),
                backlogs.Min(backlog => backlog.OldestKey)
            )
            {
                CountedAt = _countedAt,
            };
        }
    }

    /// <inheritdoc/>
    public IEnumerable<string> Notices => _trouble is { } trouble ? [trouble] : [];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _meter.ObservableGauge(EsbTelemetry.Metrics.DeadLettersOpen, () => Measure(backlog => backlog.Letters));
        _meter.ObservableGauge(EsbTelemetry.Metrics.DeadLetterAge, () => Measure(backlog => AgeOf(backlog.OldestLetter)));
        _meter.ObservableGauge(EsbTelemetry.Metrics.ParkedKeys, () => Measure(backlog => backlog.Keys));
        _meter.ObservableGauge(EsbTelemetry.Metrics.ParkedAge, () => Measure(backlog => AgeOf(backlog.OldestKey)));
        _counting = Task.Run(() => RunAsync(_stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _counting;
    }

    public void Dispose()
    {
        _meter.Dispose();
        _stopping.Dispose();
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                _backlogs = await CountAsync(stopping);
                (_countedAt, _trouble) = (time.GetUtcNow(), null);
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                return;
            }
            catch (Exception ex)
            {
                LogNotCounted(ex); // the last count remains valid
                Tell(ex);
            }

            await Task.Delay(_trouble is null ? Interval : RetryInterval, time, stopping)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private void Tell(Exception cause)
    {
        if (_trouble is not null)
            return;
        var code = (cause as EsbException)?.Code ?? "ESB-STORE-AWAY";
        _trouble = string.Create(
            CultureInfo.InvariantCulture,
            $"{code} The store cannot be read since {time.GetUtcNow():yyyy-MM-dd HH:mm:ss}Z: dead letters and parked messages are "
                + $"not counted."
        );
        alerts?.Raise(new Alert(AlertKinds.StoreAway, Endpoint: null, code, _trouble));
    }

    private async Task<IReadOnlyList<EndpointBacklog>> CountAsync(CancellationToken cancellationToken)
    {
        var open = (
            await letters.GroupAsync(new DeadLetterFilter { State = DeadLetterState.Open }, byCause: false, cancellationToken)
        ).ToLookup(group => NameOf(group.Endpoint));
        var parked = (await KeysAsync(cancellationToken)).ToLookup(key => NameOf(key.Endpoint));
        return
        [
            .. _names
                .Append(Other)
                .Select(name => new EndpointBacklog(
                    name,
                    open[name].Sum(group => group.Count),
                    open[name].Min(group => (DateTimeOffset?)group.Oldest),
                    parked[name].LongCount(),
                    parked[name].Min(key => (DateTimeOffset?)key.Since)
                )),
        ];
    }

    // With very many keys, those of one endpoint would hide those of the others.
    private async Task<IReadOnlyList<ParkedKey>> KeysAsync(CancellationToken cancellationToken)
    {
        var oldest = await parking.ListAsync(null, null, MaxKeys, cancellationToken);
        if (oldest.Count < MaxKeys)
            return oldest;
        var keys = oldest.Where(key => !_names.Contains(key.Endpoint)).ToList();
        foreach (var name in _names)
            keys.AddRange(await parking.ListAsync(name, null, MaxKeys, cancellationToken));
        return keys;
    }

    private IEnumerable<Measurement<T>> Measure<T>(Func<EndpointBacklog, T> value)
        where T : struct =>
        _backlogs.Select(backlog => new Measurement<T>(
            value(backlog),
            new KeyValuePair<string, object?>(EsbTelemetry.Tags.Endpoint, backlog.Endpoint)
        ));

    private double AgeOf(DateTimeOffset? since) => since is { } start ? Math.Max(0, (time.GetUtcNow() - start).TotalSeconds) : 0;

    private string NameOf(string endpoint) => _names.Contains(endpoint) ? endpoint : Other;

    [LoggerMessage(EventId = 2630, Level = LogLevel.Debug, Message = "Dead letters and parked keys could not be counted")]
    private partial void LogNotCounted(Exception exception);

    private sealed record EndpointBacklog(
        string Endpoint,
        long Letters,
        DateTimeOffset? OldestLetter,
        long Keys,
        DateTimeOffset? OldestKey
    );
}
