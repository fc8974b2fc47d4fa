using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>Stores replay jobs and the letters of each. Durable when a call returns. Thread-safe.</summary>
/// <remarks>A letter belongs to one job at a time: from creation of the job until the letter is sent, or the job is cancelled.</remarks>
public interface IReplayJobStore
{
    /// <summary>Creates a job and assigns it the requested letters, both or neither.</summary>
    /// <param name="job">The job; its total is counted by this call.</param>
    /// <param name="cancellationToken">Checked before anything is created.</param>
    /// <returns>The job; the existing job if its command was used before; null if no letter is available.</returns>
    Task<ReplayJob?> CreateAsync(ReplayJob job, CancellationToken cancellationToken);

    /// <summary>The job created by a command; null if the command is new.</summary>
    Task<ReplayJob?> FindAsync(string command, CancellationToken cancellationToken);

    /// <summary>The job with this id; null if it does not exist.</summary>
    Task<ReplayJob?> GetAsync(Guid id, CancellationToken cancellationToken);

    /// <summary>Jobs, newest first.</summary>
    /// <param name="before">Jobs older than this one: the key of the next page.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    Task<IReadOnlyList<ReplayJob>> ListAsync(Guid? before, int limit, CancellationToken cancellationToken);

    /// <summary>Changes the state of a job that has not ended; unsent letters of a cancelled job become open again.</summary>
    /// <returns>The current job; null if it does not exist.</returns>
    Task<ReplayJob?> ChangeAsync(Guid id, ReplayState state, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Claims the oldest running job without a worker, or whose worker has not renewed its claim for
    /// <see cref="ReplayClaim.Patience"/>.</summary>
    Task<ReplayClaim?> ClaimAsync(string owner, CancellationToken cancellationToken);

    /// <summary>Renews a claim, and records the current obstacle.</summary>
    /// <returns>The current job; null if another owner holds it.</returns>
    Task<ReplayJob?> RenewAsync(ReplayClaim claim, string? trouble, CancellationToken cancellationToken);

    /// <summary>Letters of the job not yet sent, oldest first.</summary>
    Task<IReadOnlyList<DeadLetterSummary>> NextAsync(ReplayClaim claim, int limit, CancellationToken cancellationToken);

    /// <summary>Marks letters as sent and confirmed. A letter that has failed again in the meantime stays open.</summary>
    Task MarkAsync(ReplayClaim claim, IReadOnlyList<Guid> letters, CancellationToken cancellationToken);

    /// <summary>Releases a job: in the state running, other hosts may claim it at once.</summary>
    /// <param name="claim">The claim to release.</param>
    /// <param name="state"><see cref="ReplayState.Running"/>, <see cref="ReplayState.Stopped"/> or <see cref="ReplayState.Completed"/>; an
    /// operator's pause or cancel stays.</param>
    /// <param name="trouble">Reason why it stopped; null if none.</param>
    /// <param name="cancellationToken">Checked before the job changes.</param>
    Task ReleaseAsync(ReplayClaim claim, ReplayState state, string? trouble, CancellationToken cancellationToken);
}

/// <summary>The right to work on a job, for as long as it is renewed.</summary>
/// <param name="Job">The job at the time of the claim.</param>
/// <param name="Owner">The owner of the claim.</param>
public sealed record ReplayClaim(ReplayJob Job, string Owner)
{
    /// <summary>Time without renewal after which another host may claim the job.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(15);
}
