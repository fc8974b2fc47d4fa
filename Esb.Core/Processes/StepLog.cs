using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>Log of the steps of a process, kept until the audit records it together with the end of the process: no step waits for it. Used
/// by one step at a time; not thread-safe.</summary>
/// <param name="time">Source of times and durations.</param>
/// <param name="keepsTransforms">True if the message is kept as it was before and after each transforming step.</param>
public sealed class StepLog(TimeProvider time, bool keepsTransforms)
{
    /// <summary>Name of the fact with the message before a step.</summary>
    public const string Before = "before";

    /// <summary>Name of the fact with the message after a step.</summary>
    public const string After = "after";

    private List<StepRecord> _records = [];

    /// <summary>Returns all records, and removes them.</summary>
    public IReadOnlyList<StepRecord> Take()
    {
        var taken = _records;
        _records = [];
        return taken;
    }

    /// <summary>Returns an empty log for steps that run while others write into this one.</summary>
    public StepLog Branch() => new(time, keepsTransforms);

    /// <summary>Moves the records of a branch to the end of this log.</summary>
    /// <param name="branch">A log of <see cref="Branch"/>, whose steps have ended.</param>
    public void Add(StepLog branch) => _records.AddRange(branch.Take());

    /// <summary>Returns the timestamp at which a step begins.</summary>
    public long Begin() => time.GetTimestamp();

    /// <summary>Records that a step is about to transform the message.</summary>
    public void Transforming(MessageContext context, string step)
    {
        if (keepsTransforms)
            _records.Add(new StepRecord(FactOf(context, step) with { Name = Before }, context.Message));
    }

    /// <summary>Records that a step has transformed the message.</summary>
    public void Transformed(MessageContext context, string step, long began)
    {
        var fact = FactOf(context, step) with { Duration = time.GetElapsedTime(began) };
        _records.Add(keepsTransforms ? new StepRecord(fact with { Name = After }, context.Message) : new StepRecord(fact, null));
    }

    /// <summary>Records that a step has called an endpoint, which accepted the message.</summary>
    public void Called(MessageContext context, string step, string endpoint, EsbMessage sent, long began) =>
        _records.Add(
            new StepRecord(
                FactOf(context, step) with
                {
                    Kind = AuditKind.Delivered,
                    Endpoint = endpoint,
                    Duration = time.GetElapsedTime(began),
                },
                sent
            )
        );

    /// <summary>Records that a step succeeded.</summary>
    public void Ended(MessageContext context, string step, long began) =>
        _records.Add(new StepRecord(FactOf(context, step) with { Duration = time.GetElapsedTime(began) }, null));

    /// <summary>Records that a step failed and that the process continues.</summary>
    public void Caught(MessageContext context, EsbException failure) =>
        _records.Add(new StepRecord(FactOf(context, context.FailedStep) with { Code = failure.Code, Reason = failure.Message }, null));

    private AuditFact FactOf(MessageContext context, string? step) =>
        AuditFacts.Of(context.Received, AuditKind.StepEnded, time) with
        {
            Endpoint = context.Endpoint,
            Process = context.Process,
            Step = step,
        };
}

/// <summary>Record of a step.</summary>
/// <param name="Fact">The fact.</param>
/// <param name="Content">The message at that time; null if its content is not recorded.</param>
public sealed record StepRecord(AuditFact Fact, EsbMessage? Content);
