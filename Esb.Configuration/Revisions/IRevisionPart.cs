using Esb.Core.Configuration;

namespace Esb.Configuration.Revisions;

/// <summary>A part that lives as long as the process and switches to another revision of the configuration while it works.</summary>
/// <remarks>
/// One exchange runs at a time. All parts prepare, ordered by stage; if one cannot, all abandon, and the running revision stays. Otherwise
/// all parts welcome the new revision, it is put in service, all exchange, and finally all release the resources that only the old revision
/// used.
/// </remarks>
public interface IRevisionPart
{
    /// <summary>Checks that the part can switch to a revision, and opens new resources; accepts no message yet.</summary>
    /// <param name="next">The revision, which is not in service yet.</param>
    /// <param name="errors">Receives the reasons why the part cannot switch.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    Task PrepareAsync(Revision next, ConfigErrors errors, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Reverts the preparation.</summary>
    Task AbandonAsync() => Task.CompletedTask;

    /// <summary>Makes the destinations of the new revision's messages ready before the first such message can exist.</summary>
    Task WelcomeAsync(Revision next, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Switches to a revision that is now in service. Unavailable resources are retried as at a start and cause no
    /// exception.</summary>
    /// <param name="next">The revision.</param>
    /// <param name="old">Receives the remains of the previous revision.</param>
    /// <param name="cancellationToken">Cancelled when the time-out for stopping the host expires.</param>
    Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken) => Task.CompletedTask;
}
