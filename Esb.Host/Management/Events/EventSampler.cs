using System.Text.Json;
using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Marks;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Host.Management.Flow;
using Esb.Host.Management.Marks;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Events;

/// <summary>Compares the state of this host with that of a moment ago, and publishes what has changed, on the other hosts of the farm
/// too.</summary>
/// <remarks>States are looked at five times a second while somebody reads, otherwise once; rates once a second.</remarks>
internal sealed partial class EventSampler(
    EventStream stream,
    IEnumerable<IEndpointMonitor> monitors,
    MetricsCollector metrics,
    QueueLengths queues,
    Live<BusModel> live,
    IFarm farm,
    IMarks marks,
    IWorkflowChanges workflows,
    TimeProvider time,
    ILogger<EventSampler> logger
) : IBusPart, IDisposable
{
    private const int TicksPerSecond = 5;
    private const int MaxShared = 1_000;

    private readonly CancellationTokenSource _stopping = new();
    private readonly Dictionary<string, (EndpointState State, string? Reason)> _states = [];
    private readonly RateSample _rates = new(metrics, queues, farm.Self.Name, time);
    private readonly Dictionary<(string, string?), bool> _marks = [];
    private readonly List<SharedEvent> _unshared = []; // with the hosts of the farm
    private HashSet<string> _hosts = [];
    private string? _revision;
    private IDisposable? _hearing;
    private Task _sampling = Task.CompletedTask;
    private Task _sharing = Task.CompletedTask;

    public BusStage Stage => BusStage.Outbound;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _hearing = farm.Subscribe<ShareEvents>(
            (from, command, _) =>
            {
                if (from != farm.Self.Id)
                    Hear(command);
                return Task.CompletedTask;
            }
        );
        _sampling = SampleAsync(_stopping.Token);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        _hearing?.Dispose();
        await _stopping.CancelAsync();
        await _sampling;
        await _sharing;
    }

    public void Dispose() => _stopping.Dispose();

    private async Task SampleAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1) / TicksPerSecond, time);
        var tick = 0;
        try
        {
            while (await timer.WaitForNextTickAsync(stopping))
            {
                var isSecond = ++tick % TicksPerSecond == 0;
                if (isSecond || stream.HasReaders)
                    Look(isSecond, stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The host is stopping.
        }
    }

    /// <summary>Publishes what has changed since the last look.</summary>
    internal void Look(bool isSecond, CancellationToken cancellationToken)
    {
        List<SharedEvent> shared = [.. Endpoints(), .. Marks(), .. Workflows()];
        if (isSecond)
        {
            shared.AddRange(_rates.Look(stream.IsWanted(BusEventKind.Rates) || farm.Hosts.Count > 1, monitors));
            Configuration();
            Hosts();
        }

        foreach (var one in shared.Where(one => one.Kind != BusEventKind.Rates || stream.IsWanted(BusEventKind.Rates)))
            stream.Publish(one.Kind, one.Data);
        Share(shared, cancellationToken);
    }

    // A broker that is slow holds up neither the readers of this host nor the next look: what happens meanwhile is sent together.
    private void Share(List<SharedEvent> shared, CancellationToken cancellationToken)
    {
        if (shared.Exists(one => one.Kind == BusEventKind.Rates))
            _unshared.RemoveAll(one => one.Kind == BusEventKind.Rates);
        _unshared.AddRange(shared.Take(MaxShared - _unshared.Count));
        if (_unshared.Count == 0 || !_sharing.IsCompleted)
            return;
        if (farm.Hosts.Count > 1)
            _sharing = ShareAsync(new ShareEvents([.. _unshared]), cancellationToken);
        _unshared.Clear();
    }

    private async Task ShareAsync(ShareEvents events, CancellationToken cancellationToken)
    {
        try
        {
            await farm.BroadcastAsync(events, cancellationToken);
        }
        catch (EsbException ex)
        {
            LogNotShared(ex); // this host's own readers have them
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The host is stopping.
        }
    }

    private List<SharedEvent> Marks()
    {
        var changed = new List<SharedEvent>();
        foreach (var state in marks.All)
        {
            var key = (state.Measure.Name, state.Measure.Endpoint);
            if (_marks.GetValueOrDefault(key) == state.IsCrossed)
                continue;
            _marks[key] = state.IsCrossed;
            changed.Add(SharedEvent.Of(BusEventKind.Mark, new MarkChanged(farm.Self.Name, MarkView.Of(state))));
        }

        return changed;
    }

    private IEnumerable<SharedEvent> Workflows() =>
        workflows
            .Take()
            .Select(one =>
                SharedEvent.Of(
                    BusEventKind.Workflow,
                    new WorkflowChanged(farm.Self.Name, one.Workflow, one.Instances, one.Further, time.GetUtcNow())
                )
            );

    private List<SharedEvent> Endpoints()
    {
        var changed = new List<SharedEvent>();
        foreach (var endpoint in monitors.SelectMany(monitor => monitor.Endpoints))
        {
            var now = (endpoint.State, endpoint.Reason);
            if (_states.TryGetValue(endpoint.Name, out var before) && before == now)
                continue;
            _states[endpoint.Name] = now;
            changed.Add(
                SharedEvent.Of(
                    BusEventKind.Endpoint,
                    new EndpointChanged(farm.Self.Name, endpoint.Name, endpoint.State, endpoint.Reason, time.GetUtcNow())
                )
            );
        }

        return changed;
    }

    private void Configuration()
    {
        var revision = live.Current.Revision;
        if (_revision is not null && _revision != revision)
        {
            stream.Publish(BusEventKind.Configuration, new ConfigurationChanged(farm.Self.Name, _revision, revision, time.GetUtcNow()));
            var names = monitors.SelectMany(monitor => monitor.Endpoints).Select(endpoint => endpoint.Name).ToHashSet();
            foreach (var gone in _states.Keys.Where(name => !names.Contains(name)).ToList())
                _states.Remove(gone);
        }

        _revision = revision;
    }

    private void Hosts()
    {
        HashSet<string> hosts = [.. farm.Hosts.Select(host => host.Name)];
        foreach (var name in hosts.Except(_hosts))
            stream.Publish(BusEventKind.Host, new HostChanged(name, IsHere: true, time.GetUtcNow()));
        foreach (var name in _hosts.Except(hosts))
            stream.Publish(BusEventKind.Host, new HostChanged(name, IsHere: false, time.GetUtcNow()));
        _hosts = hosts;
    }

    // Another host may be of another version: what is not known here is passed over.
    private void Hear(ShareEvents command)
    {
        foreach (var one in command.Events.Take(MaxShared))
        {
            if (one.Kind == BusEventKind.Rates && !stream.IsWanted(BusEventKind.Rates))
                continue;
            if (
                one.Kind
                    is BusEventKind.Endpoint
                        or BusEventKind.DeadLetter
                        or BusEventKind.Parked
                        or BusEventKind.Workflow
                        or BusEventKind.Rates
                && one.Data.ValueKind == JsonValueKind.Object
            )
                stream.Publish(one.Kind, one.Data);
        }
    }

    [LoggerMessage(EventId = 5130, Level = LogLevel.Debug, Message = "Events could not be sent to the other hosts")]
    private partial void LogNotShared(Exception exception);
}

/// <summary>Command to the other hosts of a farm: events for their readers.</summary>
internal sealed record ShareEvents(IReadOnlyList<SharedEvent> Events);

/// <summary>An event of another host.</summary>
internal sealed record SharedEvent(BusEventKind Kind, JsonElement Data)
{
    public static SharedEvent Of(BusEventKind kind, object data) =>
        new(kind, JsonSerializer.SerializeToElement(data, data.GetType(), ManagementServer.Json));
}

/// <summary>The state of an endpoint has changed.</summary>
internal sealed record EndpointChanged(string Host, string Endpoint, EndpointState State, string? Reason, DateTimeOffset Time);

/// <summary>Another revision is in service.</summary>
internal sealed record ConfigurationChanged(string Host, string Before, string After, DateTimeOffset Time);

/// <summary>A host has joined or left the farm.</summary>
internal sealed record HostChanged(string Host, bool IsHere, DateTimeOffset Time);

/// <summary>A load has crossed its high mark, or has fallen to the low one.</summary>
internal sealed record MarkChanged(string Host, MarkView Mark);

/// <summary>Instances of a workflow have changed on a host.</summary>
/// <param name="Host">The host.</param>
/// <param name="Workflow">The workflow.</param>
/// <param name="Instances">Instances that changed, with their states; of version 1 are those that started.</param>
/// <param name="Further">The number of changes that are not listed.</param>
/// <param name="Time">When they were noticed.</param>
internal sealed record WorkflowChanged(
    string Host,
    string Workflow,
    IReadOnlyList<WorkflowChange> Instances,
    long Further,
    DateTimeOffset Time
);
