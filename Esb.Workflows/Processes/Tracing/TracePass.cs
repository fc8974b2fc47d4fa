using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Processes.Tracing;

namespace Esb.Workflows.Processes.Tracing;

/// <summary>Records a message on its way through a process. Thread-safe.</summary>
internal sealed class TracePass : MessageFollower
{
    /// <summary>The most steps of a pass.</summary>
    public const int MostSteps = 500;

    private readonly TimeProvider _time;
    private readonly TraceBudget _budget;
    private readonly Lock _gate = new();
    private readonly List<ProcessModel> _processes = [];
    private readonly List<TracedStep> _steps = [];
    private readonly List<long> _begun = [];
    private readonly PassBodies _bodies;
    private readonly Guid _message;
    private readonly long _started;
    private TracedPass _pass;
    private long _further;

    public TracePass(MessageContext context, IMessageMask mask, TraceBudget budget, TimeProvider time)
    {
        (_time, _budget, _bodies, _message) = (time, budget, new PassBodies(mask, budget), context.Received.Id);
        _started = time.GetTimestamp();
        _pass = new TracedPass(
            Guid.NewGuid(),
            _message,
            AuditFacts.Host,
            context.Received.Attempt,
            time.GetUtcNow(),
            Seconds: null,
            TraceOutcome.Running,
            Code: null,
            Reason: null
        );
    }

    public Guid Id => _pass.Id;

    public override void Enter(ProcessModel process)
    {
        lock (_gate)
        {
            if (!_processes.Exists(known => known.Name == process.Name))
                _processes.Add(process);
        }
    }

    public override int Begin(MessageContext context, string place, string kind)
    {
        lock (_gate)
        {
            if (_steps.Count >= MostSteps || !_budget.TryTakeStep())
            {
                _further++;
                return -1;
            }

            var part = context.Message.Id == _message ? (Guid?)null : context.Message.Id;
            var offset = _time.GetElapsedTime(_started).TotalSeconds;
            _steps.Add(new TracedStep(place, kind, context.Process, part, offset, _bodies.Take(context.Message)));
            _begun.Add(_time.GetTimestamp()); // behind the body: masking is not the step's time
            return _steps.Count - 1;
        }
    }

    public override void End(int step, MessageContext context, Exception? failure)
    {
        var now = _time.GetTimestamp();
        if (step < 0)
            return;
        lock (_gate)
            _steps[step] = _steps[step] with
            {
                Seconds = _time.GetElapsedTime(_begun[step], now).TotalSeconds,
                After = _bodies.Take(context.Message),
                Code = CodeOf(failure),
                Reason = ReasonOf(failure),
            };
    }

    public override void Complete(MessageContext context, Exception? failure)
    {
        lock (_gate)
        {
            _pass = _pass with
            {
                Seconds = _time.GetElapsedTime(_started).TotalSeconds,
                Outcome = failure switch
                {
                    null => OutcomeOf(context.Outcome),
                    OperationCanceledException => TraceOutcome.Cancelled,
                    _ => TraceOutcome.Failed,
                },
                Code = CodeOf(failure),
                Reason = ReasonOf(failure),
            };
            _bodies.Forget();
        }
    }

    public TracedPass Describe()
    {
        lock (_gate)
            return _pass;
    }

    public TracedMessage Read()
    {
        lock (_gate)
            return new TracedMessage(_pass, [.. _processes.Select(TracedProcess.Of)], [.. _steps], _bodies.All, _further);
    }

    private static TraceOutcome OutcomeOf(ProcessOutcome outcome) =>
        outcome switch
        {
            ProcessOutcome.Filtered => TraceOutcome.Filtered,
            ProcessOutcome.Responded => TraceOutcome.Responded,
            ProcessOutcome.Held => TraceOutcome.Held,
            _ => TraceOutcome.Completed,
        };

    private static string? CodeOf(Exception? failure) =>
        failure switch
        {
            null => null,
            EsbException known => known.Code,
            OperationCanceledException => "ESB-INTAKE-ABORTED",
            _ => "ESB-PROC-FAILED",
        };

    // What an unknown exception says may hold content that no mask knows.
    private static string? ReasonOf(Exception? failure) =>
        failure switch
        {
            null => null,
            EsbException known => MaskedFlow.Clean(known.Message),
            OperationCanceledException => "The step was cancelled.",
            _ => "The step failed without a code; the log of the host has more.",
        };
}
