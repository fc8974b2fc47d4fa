using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>Keeps replay jobs and which letters each has. Durable when a call returns. Thread-safe.</summary>
/// <remarks>A letter belongs to one job at a time: from the moment the job is made until the letter is sent, or the job is cancelled.</remarks>
public interface IReplayJobStore
{
    /// <summary>Makes a job and gives it the letters that its request asks for, both or neither.</summary>
    /// <param name="job">The job; its total is counted here.</param>
    /// <param name="cancellationToken">Is looked at before anything is made.</param>
    /// <returns>The job; the one that exists already where its command was seen before; null where no letter is to be had.</returns>
    Task<ReplayJob?> CreateAsync(ReplayJob job, CancellationToken cancellationToken);

    /// <summary>The job that a command made; null where the command is new.</summary>
    Task<ReplayJob?> FindAsync(string command, CancellationToken cancellationToken);

    /// <summary>A job; null where there is none.</summary>
    Task<ReplayJob?> GetAsync(Guid id, CancellationToken cancellationToken);

    /// <summary>The newest jobs first.</summary>
    /// <param name="before">Older than this one: the key of the next page.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    Task<IReadOnlyList<ReplayJob>> ListAsync(Guid? before, int limit, CancellationToken cancellationToken);

    /// <summary>Changes the state of a job that is not over; letters of a cancelled one that were not sent are open again.</summary>
    /// <returns>The job as it is now; null where there is none.</returns>
    Task<ReplayJob?> ChangeAsync(Guid id, ReplayState state, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Takes the oldest running job that nobody works on, or whose worker has not been heard of for <see cref="ReplayClaim.Patience"/>.</summary>
    Task<ReplayClaim?> ClaimAsync(string owner, CancellationToken cancellationToken);

    /// <summary>Says that the owner still works, and what is in its way.</summary>
    /// <returns>The job as it is now; null where somebody else has it.</returns>
    Task<ReplayJob?> RenewAsync(ReplayClaim claim, string? trouble, CancellationToken cancellationToken);

    /// <summary>Letters of the job that were not sent yet, the oldest first.</summary>
    Task<IReadOnlyList<DeadLetterSummary>> NextAsync(ReplayClaim claim, int limit, CancellationToken cancellationToken);

    /// <summary>Says that letters were sent and confirmed. One that has come back in the meantime stays open.</summary>
    Task MarkAsync(ReplayClaim claim, IReadOnlyList<Guid> letters, CancellationToken cancellationToken);

    /// <summary>Lets a job go: in the state running, others may take it at once.</summary>
    /// <param name="claim">Who lets go.</param>
    /// <param name="state"><see cref="ReplayState.Running"/>, <see cref="ReplayState.Stopped"/> or <see cref="ReplayState.Completed"/>; an operator's pause or cancel stays.</param>
    /// <param name="trouble">Why it stopped; null when nothing is wrong.</param>
    /// <param name="cancellationToken">Is looked at before the job changes.</param>
    Task ReleaseAsync(ReplayClaim claim, ReplayState state, string? trouble, CancellationToken cancellationToken);
}

/// <summary>The right to work on a job, for as long as it is renewed.</summary>
/// <param name="Job">The job when it was taken.</param>
/// <param name="Owner">Who took it.</param>
public sealed record ReplayClaim(ReplayJob Job, string Owner)
{
    /// <summary>How long an owner may be silent before another host takes its job.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(15);
}
