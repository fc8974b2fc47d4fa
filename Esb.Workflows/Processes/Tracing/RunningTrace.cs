using Esb.Core.Audit;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Processes.Tracing;

namespace Esb.Workflows.Processes.Tracing;

/// <summary>A trace, from its beginning until it is forgotten. Thread-safe.</summary>
internal sealed class RunningTrace : IDisposable
{
    /// <summary>How long what a trace recorded stays after its end.</summary>
    public static readonly TimeSpan KeepTime = TimeSpan.FromHours(1);

    private readonly IAuditTrail _audit;
    private readonly TimeProvider _time;
    private readonly Action _settle;
    private readonly Action<RunningTrace> _forget;
    private readonly ITimer _timer;
    private readonly Lock _gate = new();
    private readonly List<TracePass> _passes = [];
    private readonly TraceBudget _budget = new();
    private readonly DateTimeOffset _startedAt;
    private TraceState _state;

    /// <param name="order">What is asked for.</param>
    /// <param name="audit">Masks, and knows business fields.</param>
    /// <param name="time">The clock.</param>
    /// <param name="settle">Called once it has ended.</param>
    /// <param name="forget">Called when nothing of it is kept any longer.</param>
    public RunningTrace(TraceOrder order, IAuditTrail audit, TimeProvider time, Action settle, Action<RunningTrace> forget)
    {
        (Order, _audit, _time, _settle, _forget) = (order, audit, time, settle, forget);
        _startedAt = time.GetUtcNow();
        _timer = time.CreateTimer(_ => Elapse(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _timer.Change(order.For, Timeout.InfiniteTimeSpan); // it may fire at once, and then needs its own field
    }

    public TraceOrder Order { get; }

    public DateTimeOffset EndsAt => _startedAt + Order.For;

    public bool IsRunning
    {
        get
        {
            lock (_gate)
                return _state == TraceState.Running;
        }
    }

    /// <summary>Takes a message that meets the conditions; null if it does not, or if the trace has ended.</summary>
    public MessageFollower? TryTake(MessageContext context)
    {
        if (!IsRunning || !Matches(context))
            return null;
        TracePass pass;
        bool isFull;
        lock (_gate)
        {
            if (_state != TraceState.Running)
                return null;
            pass = new TracePass(context, _audit.Mask, _budget, _time);
            _passes.Add(pass);
            isFull = _passes.Count >= Order.Count;
        }

        if (isFull)
            End(TraceState.Full);
        return pass;
    }

    public void End(TraceState state)
    {
        lock (_gate)
        {
            if (_state != TraceState.Running)
                return;
            _state = state;
        }

        _timer.Change(KeepTime, Timeout.InfiniteTimeSpan);
        _settle();
    }

    public ProcessTrace Describe()
    {
        lock (_gate)
            return new ProcessTrace(Order, _state, _startedAt, EndsAt, [.. _passes.Select(pass => pass.Describe())]);
    }

    public TracedMessage? Find(Guid pass)
    {
        lock (_gate)
            return _passes.Find(one => one.Id == pass)?.Read();
    }

    public void Dispose() => _timer.Dispose();

    private void Elapse()
    {
        if (IsRunning)
            End(TraceState.Ended);
        else
            _forget(this);
    }

    // Compared as the message may be recorded: who traces cannot find out what is masked.
    private bool Matches(MessageContext context)
    {
        if (Order.Where.Count == 0)
            return true;
        var shown = _audit.Mask.Apply(context.Message).Message;
        IReadOnlyDictionary<string, string>? fields = null;
        return Order.Where.All(condition => ValueOf(condition.Name) == condition.Value);

        string? ValueOf(string name) =>
            name switch
            {
                "subject" => shown.Subject,
                "party" => shown.Party,
                "key" => shown.Key,
                "id" => shown.Id.ToString(),
                _ when name.StartsWith("header.", StringComparison.Ordinal) => shown.Headers[name["header.".Length..]],
                _ when name.StartsWith("property.", StringComparison.Ordinal) => PropertyOf(context, name["property.".Length..]),
                _ => (fields ??= _audit.FieldsOf(context.Message, context.Endpoint)).GetValueOrDefault(name),
            };
    }

    private static string? PropertyOf(MessageContext context, string name) =>
        context.GetProperty(name) is { } value && MessageValues.AsText(value) is { } text ? MaskedFlow.Clean(text) : null;
}
