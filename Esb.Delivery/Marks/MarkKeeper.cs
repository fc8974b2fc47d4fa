using System.Diagnostics.Metrics;
using System.Globalization;
using Esb.Core;
using Esb.Core.Alerts;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Marks;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Marks;

/// <summary>Measures every load that has marks, and tells when one is crossed and when it has fallen again (hysteresis): in the log, as an
/// alert, a notice and metrics.</summary>
internal sealed partial class MarkKeeper(
    IEnumerable<IMarkSource> sources,
    TimeProvider time,
    ILogger<MarkKeeper> logger,
    IAlerts? alerts = null
) : IMarks, IBusPart, IHealthNotices, IDisposable
{
    private readonly CancellationTokenSource _stopping = new();
    private readonly Meter _meter = new(EndpointsTelemetry.Meter.Name); // per host: gauges keep references to their sources
    private readonly Lock _gate = new();
    private readonly Dictionary<IMarkSource, IReadOnlyList<MarkState>> _states = []; // as each source last measured
    private readonly HashSet<IMarkSource> _away = [];
    private volatile string? _obstacle;
    private volatile IReadOnlySet<string> _crossed = new HashSet<string>();
    private Task _measuring = Task.CompletedTask;

    public BusStage Stage => BusStage.Inbound;

    public IReadOnlyList<MarkState> All
    {
        get
        {
            lock (_gate)
                return [.. _states.Values.SelectMany(states => states)];
        }
    }

    public string? IntakeObstacle => _obstacle;

    public bool IsCrossed(string name) => _crossed.Contains(name);

    /// <inheritdoc/>
    public IEnumerable<string> Notices => All.Where(state => state.IsCrossed).Select(state => $"ESB-MARK-CROSSED: {Describe(state)}");

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _meter.ObservableGauge(EsbTelemetry.Metrics.MarkValue, () => Observe(state => state.Measure.Value));
        _meter.ObservableGauge(EsbTelemetry.Metrics.MarkCrossed, () => Observe(state => state.IsCrossed ? 1d : 0));
        _meter.ObservableCounter(EsbTelemetry.Metrics.MarkCrossings, () => Observe(state => (double)state.Crossings));
        _measuring = Task.WhenAll(sources.Select(source => Task.Run(() => FollowAsync(source, _stopping.Token), CancellationToken.None)));
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _measuring;
    }

    public void Dispose()
    {
        _meter.Dispose();
        _stopping.Dispose();
    }

    /// <summary>Measures a source once. What it no longer measures, because its marks or its endpoint were removed, is forgotten.</summary>
    internal async Task LookAsync(IMarkSource source, CancellationToken cancellationToken)
    {
        var measures = await source.MeasureAsync(cancellationToken);
        IReadOnlyList<MarkState> before;
        List<MarkState> after;
        lock (_gate)
        {
            before = _states.GetValueOrDefault(source) ?? [];
            after = [.. measures.Select(measure => Compare(measure, Find(before, measure)))];
            _states[source] = after;
            var crossed = _states.Values.SelectMany(states => states).Where(state => state.IsCrossed).ToList();
            _crossed = crossed.Select(state => state.Measure.Name).ToHashSet();
            _obstacle = crossed.Where(state => state.Measure.HoldsIntake).Select(Describe).FirstOrDefault();
        }

        foreach (var state in after.Where(state => state.IsCrossed != (Find(before, state.Measure)?.IsCrossed ?? false)))
            Tell(state);
        foreach (var state in before.Where(state => state.IsCrossed && Find(after, state.Measure) is null))
        {
            var text = Describe(state);
            LogRemoved(text);
        }
    }

    private async Task FollowAsync(IMarkSource source, CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                await LookAsync(source, stopping);
                lock (_gate)
                    _away.Remove(source);
            }
            catch (Exception ex) when (ex is EsbException || !stopping.IsCancellationRequested)
            {
                LogOnce(source, ex);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            await Task.Delay(source.Interval, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private MarkState Compare(MarkMeasure measure, MarkState? before)
    {
        var was = before?.IsCrossed == true;
        var isCrossed = measure.IsCrossed ?? (was ? measure.Value > measure.Low : measure.Value >= measure.High);
        var hasChanged = isCrossed != was;
        return new MarkState(
            measure,
            isCrossed,
            hasChanged ? time.GetUtcNow() : before?.Since,
            (before?.Crossings ?? 0) + (hasChanged && isCrossed ? 1 : 0)
        );
    }

    private static MarkState? Find(IReadOnlyList<MarkState> states, MarkMeasure measure) =>
        states.FirstOrDefault(state => (state.Measure.Name, state.Measure.Endpoint) == (measure.Name, measure.Endpoint));

    private void Tell(MarkState state)
    {
        var text = Describe(state);
        if (!state.IsCrossed)
        {
            LogFallen(text);
            return;
        }

        LogCrossed(text);
        alerts?.Raise(new Alert(AlertKinds.Mark, state.Measure.Endpoint, "ESB-MARK-CROSSED", text) { Mark = state.Measure.Name });
    }

    private void LogOnce(IMarkSource source, Exception exception)
    {
        lock (_gate)
        {
            if (!_away.Add(source))
                return;
        }

        LogNotMeasured(exception, source.GetType().Name);
    }

    private static string Describe(MarkState state)
    {
        var measure = state.Measure;
        var place = measure.Endpoint is { } endpoint ? $"{measure.Name} of endpoint {endpoint}" : measure.Name;
        var effect = state.IsCrossed && measure.Effect is { } does ? $"; {does}" : "";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{place}: {measure.Value:0.#} {measure.Unit}, marks {measure.High:0.#} and {measure.Low:0.#}{effect}"
        );
    }

    private List<Measurement<double>> Observe(Func<MarkState, double> value) =>
        [
            .. All.Select(state => new Measurement<double>(
                value(state),
                new KeyValuePair<string, object?>(EsbTelemetry.Tags.Mark, state.Measure.Name),
                new KeyValuePair<string, object?>(EsbTelemetry.Tags.Endpoint, state.Measure.Endpoint ?? "")
            )),
        ];

    [LoggerMessage(EventId = 2660, Level = LogLevel.Warning, Message = "High mark crossed. {Mark}")]
    private partial void LogCrossed(string mark);

    [LoggerMessage(EventId = 2661, Level = LogLevel.Information, Message = "Low mark reached. {Mark}")]
    private partial void LogFallen(string mark);

    [LoggerMessage(EventId = 2663, Level = LogLevel.Information, Message = "No longer measured, and no longer crossed. {Mark}")]
    private partial void LogRemoved(string mark);

    [LoggerMessage(EventId = 2662, Level = LogLevel.Warning, Message = "{Source} could not measure; the last measurement stays")]
    private partial void LogNotMeasured(Exception exception, string source);
}
