namespace Esb.Core.Planning;

/// <summary>Says what a configuration would change on a server, and makes the changes that no host makes by itself.</summary>
public interface IChangePlanner
{
    /// <summary>Looks, and changes nothing. Empty where the configuration uses no such server.</summary>
    /// <exception cref="Errors.EsbException">Transient: the server cannot be reached.</exception>
    Task<IReadOnlyList<PlannedChange>> PlanAsync(CancellationToken cancellationToken);

    /// <summary>Makes the migrations of the plan, one after the other. Stopped half-way it loses nothing, and goes on where it was when it is called again.</summary>
    /// <param name="tell">Hears of each step.</param>
    /// <param name="cancellationToken">Stops between two messages.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-PLAN-BUSY</c>: somebody who works with what would be migrated does not let go of it. <c>ESB-PLAN-LENGTH</c>: more messages wait than would be kept. Transient: the server cannot be reached.</exception>
    Task ApplyAsync(Action<string> tell, CancellationToken cancellationToken);
}

/// <summary>What becomes of an object on a server.</summary>
public enum ChangeKind
{
    /// <summary>It stays as it is.</summary>
    Keep,

    /// <summary>It is made when a host starts.</summary>
    Create,

    /// <summary>It is changed when a host starts, or a few seconds later.</summary>
    Change,

    /// <summary>It can only be replaced, which no host does by itself.</summary>
    Migrate,

    /// <summary>It is another configuration's, and nobody of this one touches it.</summary>
    Refuse,
}

/// <summary>What a configuration would change.</summary>
/// <param name="Kind">Whether, and how.</param>
/// <param name="Object">What: an exchange, a queue, a table's migration.</param>
/// <param name="Detail">In a few words; empty where there is nothing to say.</param>
public sealed record PlannedChange(ChangeKind Kind, string Object, string Detail);
