using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Processes.Tracing;

namespace Esb.Workflows.Processes.Tracing;

/// <inheritdoc cref="IProcessTraces"/>
internal sealed class ProcessTraces(TraceSwitch traces, IAuditTrail audit, TimeProvider time) : IProcessTraces, IDisposable
{
    /// <summary>The most traces that run at once.</summary>
    public const int MostRunning = 4;

    /// <summary>The most traces that are kept, with those that run.</summary>
    public const int MostKept = 10;

    private readonly Lock _gate = new();
    private readonly List<RunningTrace> _traces = [];

    public IReadOnlyList<ProcessTrace> All
    {
        get
        {
            lock (_gate)
                return [.. _traces.AsEnumerable().Reverse().Select(trace => trace.Describe())];
        }
    }

    public ProcessTrace Start(TraceOrder order)
    {
        lock (_gate)
        {
            if (_traces.Find(known => known.Order.Id == order.Id) is { } same)
                return same.Describe();
            var running = traces.Running.Where(trace => trace.IsRunning).ToList();
            if (running.Find(other => other.Order.Endpoint == order.Endpoint) is { } before)
                throw Busy($"The endpoint '{order.Endpoint}' is traced until {before.EndsAt:HH:mm:ss} UTC by {before.Order.By}.");
            if (running.Count >= MostRunning)
                throw Busy($"{MostRunning} traces run already.");
            while (_traces.Count >= MostKept && _traces.Find(old => !old.IsRunning) is { } oldest)
                Forget(oldest);
            var trace = new RunningTrace(order, audit, time, Settle, Forget);
            _traces.Add(trace);
            traces.Running = [.. running, trace];
            return trace.Describe();
        }
    }

    public ProcessTrace? Stop(Guid id)
    {
        var trace = Find(id);
        trace?.End(TraceState.Stopped);
        return trace?.Describe();
    }

    public TracedMessage? Find(Guid trace, Guid pass) => Find(trace)?.Find(pass);

    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var trace in _traces)
                trace.Dispose();
        }
    }

    private RunningTrace? Find(Guid id)
    {
        lock (_gate)
            return _traces.Find(trace => trace.Order.Id == id);
    }

    // A trace has ended: from now on messages pass as if there had been none.
    private void Settle()
    {
        lock (_gate)
            traces.Running = [.. traces.Running.Where(trace => trace.IsRunning)];
    }

    private void Forget(RunningTrace trace)
    {
        lock (_gate)
            _traces.Remove(trace);
        trace.Dispose();
    }

    private static EsbException Busy(string reason) => new("ESB-API-TRACED", reason, FaultKind.Unavailable) { Status = 409 };
}
