namespace Esb.Core.Processes.Tracing;

/// <summary>Follows one message through its process for a trace that an operator asked for. Thread-safe: parts of a message may run at the
/// same time.</summary>
public abstract class MessageFollower
{
    /// <summary>Notes that a process begins: the outermost one, or one that a step runs.</summary>
    public abstract void Enter(ProcessModel process);

    /// <summary>Notes that a step begins.</summary>
    /// <param name="context">The message as the step finds it.</param>
    /// <param name="place">The id or the path of the step.</param>
    /// <param name="kind">The kind of the step, such as <c>publish</c>.</param>
    /// <returns>A number for <see cref="End"/>; negative if no further step is noted.</returns>
    public abstract int Begin(MessageContext context, string place, string kind);

    /// <summary>Notes that a step has ended.</summary>
    /// <param name="step">The number of <see cref="Begin"/>.</param>
    /// <param name="context">The message as the step leaves it.</param>
    /// <param name="failure">The failure; null if it succeeded.</param>
    public abstract void End(int step, MessageContext context, Exception? failure);

    /// <summary>Notes that the outermost process has ended.</summary>
    public abstract void Complete(MessageContext context, Exception? failure);
}
