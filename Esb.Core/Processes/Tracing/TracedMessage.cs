namespace Esb.Core.Processes.Tracing;

/// <summary>A message on its way through the process of an endpoint. A message that comes again passes again.</summary>
/// <param name="Id">Identifies the pass.</param>
/// <param name="MessageId">The message.</param>
/// <param name="Host">The host that ran the process.</param>
/// <param name="Attempt">Number of the delivery; 0 if unknown.</param>
/// <param name="StartedAt">When the process began.</param>
/// <param name="Seconds">How long it took; null while it runs.</param>
/// <param name="Outcome">How it ended.</param>
/// <param name="Code">Code of the failure; null if it did not fail.</param>
/// <param name="Reason">Text of the failure, masked.</param>
public sealed record TracedPass(
    Guid Id,
    Guid MessageId,
    string Host,
    int Attempt,
    DateTimeOffset StartedAt,
    double? Seconds,
    TraceOutcome Outcome,
    string? Code,
    string? Reason
);

/// <summary>How a process ended.</summary>
public enum TraceOutcome
{
    /// <summary>It runs.</summary>
    Running,

    /// <summary>It came to its end.</summary>
    Completed,

    /// <summary>A filter ended it.</summary>
    Filtered,

    /// <summary>A step made the answer and ended it.</summary>
    Responded,

    /// <summary>A step keeps the message; the steps behind it run later, and are a pass of their own.</summary>
    Held,

    /// <summary>A step failed.</summary>
    Failed,

    /// <summary>It was cancelled: the time was over, the caller hung up, or the host stopped.</summary>
    Cancelled,
}

/// <summary>The steps of a pass, painted on the processes that it ran. Immutable.</summary>
/// <param name="Pass">The pass.</param>
/// <param name="Processes">The processes, the outermost one first.</param>
/// <param name="Steps">The steps that ran, in the order in which they began.</param>
/// <param name="Bodies">The bodies before and after steps; each once.</param>
/// <param name="FurtherSteps">Steps that ran and were not recorded, because there were too many.</param>
public sealed record TracedMessage(
    TracedPass Pass,
    IReadOnlyList<TracedProcess> Processes,
    IReadOnlyList<TracedStep> Steps,
    IReadOnlyList<TracedBody> Bodies,
    long FurtherSteps
);

/// <summary>A process with all of its steps, also those that did not run.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Steps">Its steps.</param>
public sealed record TracedProcess(string Name, IReadOnlyList<PlannedStep> Steps)
{
    /// <summary>Describes a compiled process.</summary>
    public static TracedProcess Of(ProcessModel process) => new(process.Name, StepsOf(process.Steps));

    private static IReadOnlyList<PlannedStep> StepsOf(StepListModel list) =>
        [.. list.Steps.Select(step => new PlannedStep(step.Place, step.Kind, step.Description, [.. step.Lists.Select(StepsOf)]))];
}

/// <summary>A step of a process.</summary>
/// <param name="Place">Its id or path.</param>
/// <param name="Kind">Its kind.</param>
/// <param name="Description">A brief description.</param>
/// <param name="Lists">The lists of steps in it, such as its branches.</param>
public sealed record PlannedStep(string Place, string Kind, string Description, IReadOnlyList<IReadOnlyList<PlannedStep>> Lists);

/// <summary>A step that ran.</summary>
/// <param name="Place">Its id or path.</param>
/// <param name="Kind">Its kind.</param>
/// <param name="Process">Its process.</param>
/// <param name="Part">The part of the message with which it ran; null for the message itself.</param>
/// <param name="Offset">Seconds from the beginning of the process.</param>
/// <param name="Before">Number of the body that it found; null if bodies were not recorded any more.</param>
public sealed record TracedStep(string Place, string Kind, string Process, Guid? Part, double Offset, int? Before)
{
    /// <summary>How long it took, in seconds, with the steps in it; null if it had not ended.</summary>
    public double? Seconds { get; init; }

    /// <summary>Number of the body that it left; the same as before if it did not replace it.</summary>
    public int? After { get; init; }

    /// <summary>Code of its failure; null if it succeeded.</summary>
    public string? Code { get; init; }

    /// <summary>Text of its failure, masked.</summary>
    public string? Reason { get; init; }
}

/// <summary>A body as it was recorded.</summary>
/// <param name="Number">Its number within the pass.</param>
/// <param name="State">Whether it is whole.</param>
/// <param name="ContentType">Its media type; null if unknown.</param>
/// <param name="Bytes">Its length before masking; null if unknown.</param>
/// <param name="Text">Its masked text; null if it was not recorded.</param>
public sealed record TracedBody(int Number, TracedBodyState State, string? ContentType, long? Bytes, string? Text);

/// <summary>Whether a body was recorded.</summary>
public enum TracedBodyState
{
    /// <summary>All of it.</summary>
    Whole,

    /// <summary>All of it, with masked parts.</summary>
    Masked,

    /// <summary>Its beginning.</summary>
    Truncated,

    /// <summary>Nothing: a mask withholds it.</summary>
    Withheld,

    /// <summary>Nothing: it is no text.</summary>
    Binary,

    /// <summary>Nothing: it was not in memory.</summary>
    Streaming,

    /// <summary>Nothing: the trace has as many bytes as it may have.</summary>
    OverLimit,
}
