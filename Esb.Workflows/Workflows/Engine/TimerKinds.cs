using Esb.Core.Messages;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Kinds of the timers of workflows.</summary>
internal static class TimerKinds
{
    /// <summary>The time of a wait is over. Target: the instance; data: the number of the wait.</summary>
    public const string Wait = "workflow.wait";

    /// <summary>No host works on the instance any more.</summary>
    public const string Lease = "workflow.lease";

    /// <summary>The instance has lived as long as it may.</summary>
    public const string Timeout = "workflow.timeout";

    /// <summary>Another instance starts. Target: the workflow.</summary>
    public const string Start = "workflow.start";

    /// <summary>An instance that another one runs has ended. Target: the parent.</summary>
    public const string ChildEnd = "workflow.child";

    /// <summary>An operator, or the end of the parent, ends the instance.</summary>
    public const string Terminate = "workflow.terminate";

    /// <summary>A message found no instance in time. Target: the workflow; data: the message.</summary>
    public const string Early = "workflow.early";

    /// <summary>The id of the timer that ends an instance with its parent.</summary>
    public static Guid TerminateId(Guid instance) => MessageIds.Derive(instance, "timer terminate");

    public static readonly IReadOnlyList<string> All = [Wait, Lease, Timeout, Start, ChildEnd, Terminate, Early];
}
