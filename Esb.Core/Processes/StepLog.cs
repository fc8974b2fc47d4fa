using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>What the steps of a process did to a message, kept until the audit takes it together with how the process ended: no step waits for it. Used by one step at a time; not thread-safe.</summary>
/// <param name="time">Tells when, and how long.</param>
/// <param name="keepsTransforms">Whether the message is kept as it was before and after a step that transforms it.</param>
public sealed class StepLog(TimeProvider time, bool keepsTransforms)
{
    /// <summary>The name of the fact with the message as a step found it.</summary>
    public const string Before = "before";

    /// <summary>The name of the fact with the message as a step left it.</summary>
    public const string After = "after";

    private List<StepRecord> _records = [];

    /// <summary>All that there is, which is forgotten here.</summary>
    public IReadOnlyList<StepRecord> Take()
    {
        var taken = _records;
        _records = [];
        return taken;
    }

    /// <summary>When a step begins, as a timestamp.</summary>
    public long Begin() => time.GetTimestamp();

    /// <summary>A step is about to transform the message.</summary>
    public void Transforming(MessageContext context, string step)
    {
        if (keepsTransforms) _records.Add(new StepRecord(FactOf(context, step) with { Name = Before }, context.Message));
    }

    /// <summary>A step has transformed the message.</summary>
    public void Transformed(MessageContext context, string step, long began)
    {
        var fact = FactOf(context, step) with { Duration = time.GetElapsedTime(began) };
        _records.Add(keepsTransforms ? new StepRecord(fact with { Name = After }, context.Message) : new StepRecord(fact, null));
    }

    /// <summary>A step has called an endpoint, which has taken what was sent.</summary>
    public void Called(MessageContext context, string step, string endpoint, EsbMessage sent, long began) =>
        _records.Add(new StepRecord(FactOf(context, step) with { Kind = AuditKind.Delivered, Endpoint = endpoint, Duration = time.GetElapsedTime(began) }, sent));

    /// <summary>A step went well.</summary>
    public void Ended(MessageContext context, string step, long began) =>
        _records.Add(new StepRecord(FactOf(context, step) with { Duration = time.GetElapsedTime(began) }, null));

    /// <summary>A step failed, and the process goes on.</summary>
    public void Caught(MessageContext context, EsbException failure) =>
        _records.Add(new StepRecord(FactOf(context, context.FailedStep) with { Code = failure.Code, Reason = failure.Message }, null));

    private AuditFact FactOf(MessageContext context, string? step) =>
        AuditFacts.Of(context.Received, AuditKind.StepEnded, time) with { Endpoint = context.Endpoint, Process = context.Process, Step = step };
}

/// <summary>What is to be recorded of a step.</summary>
/// <param name="Fact">What happened.</param>
/// <param name="Content">The message as it was then; null where nothing of it is recorded.</param>
public sealed record StepRecord(AuditFact Fact, EsbMessage? Content);
