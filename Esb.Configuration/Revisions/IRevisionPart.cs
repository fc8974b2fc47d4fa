using Esb.Core.Configuration;

namespace Esb.Configuration.Revisions;

/// <summary>A part that lives as long as the process and goes on with another revision of the configuration while it works.</summary>
/// <remarks>
/// One exchange at a time. All parts prepare, by their stage; if one of them cannot, all abandon, and what runs keeps running.
/// Otherwise all let in what is new, the revision is put in service, all exchange, and at last all let go of what only the old one had.
/// </remarks>
public interface IRevisionPart
{
    /// <summary>Looks whether it could go on with a revision, and opens what is new; takes no message yet.</summary>
    /// <param name="next">The revision, not in service yet.</param>
    /// <param name="errors">Receives what stands in the way.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    Task PrepareAsync(Revision next, ConfigErrors errors, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Undoes what was prepared.</summary>
    Task AbandonAsync() => Task.CompletedTask;

    /// <summary>Has ready what messages of the new revision go to, before the first of them can exist.</summary>
    Task WelcomeAsync(Revision next, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Goes on with a revision, which is in service now. What cannot be had is tried again as at a start, and is no reason to
    /// throw.</summary>
    /// <param name="next">The revision.</param>
    /// <param name="old">Receives what is left of the one before.</param>
    /// <param name="cancellationToken">Cancelled when the time to stop the host is up.</param>
    Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken) => Task.CompletedTask;
}
