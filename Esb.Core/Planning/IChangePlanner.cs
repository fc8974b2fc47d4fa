namespace Esb.Core.Planning;

/// <summary>Plans the changes that a configuration makes on a server, and applies those that no host applies by itself.</summary>
public interface IChangePlanner
{
    /// <summary>True if it can plan only within a running bus, and not for a configuration alone.</summary>
    bool NeedsRunningBus => false;

    /// <summary>Plans without changing anything. Empty if the configuration uses no such server.</summary>
    /// <exception cref="Errors.EsbException">Transient: the server is unreachable.</exception>
    Task<IReadOnlyList<PlannedChange>> PlanAsync(CancellationToken cancellationToken);

    /// <summary>Applies the migrations of the plan, one after the other. An interrupted run loses nothing, and is resumed by the next
    /// call.</summary>
    /// <param name="tell">Receives each step.</param>
    /// <param name="cancellationToken">Stops between two messages.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-PLAN-BUSY</c>: a user of the object to migrate does not release it.
    /// <c>ESB-PLAN-LENGTH</c>: more messages wait than the new object would keep. Transient: the server is unreachable.</exception>
    Task ApplyAsync(Action<string> tell, CancellationToken cancellationToken) => Task.CompletedTask;
}

/// <summary>Effect of a configuration on an object of a server.</summary>
public enum ChangeKind
{
    /// <summary>It is unchanged.</summary>
    Keep,

    /// <summary>It is created when a host starts.</summary>
    Create,

    /// <summary>It is changed when a host starts, or a few seconds later.</summary>
    Change,

    /// <summary>It can only be replaced, which no host does by itself.</summary>
    Migrate,

    /// <summary>Work under way needs what is dropped, and would be suspended: refused unless it is forced.</summary>
    Suspend,

    /// <summary>It belongs to another configuration, and is not touched by this one.</summary>
    Refuse,
}

/// <summary>A planned change.</summary>
/// <param name="Kind">Kind of change.</param>
/// <param name="Object">The object: an exchange, a queue, a table's migration.</param>
/// <param name="Detail">A brief description; may be empty.</param>
public sealed record PlannedChange(ChangeKind Kind, string Object, string Detail);
