using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>What an operator may do with dead letters; everything is recorded. Thread-safe.</summary>
public interface IDeadLetterDesk
{
    /// <summary>Tells what a replay would do; changes nothing.</summary>
    Task<ReplayPreview> PreviewAsync(ReplayRequest request, CancellationToken cancellationToken);

    /// <summary>Makes a replay job.</summary>
    /// <param name="request">What to send.</param>
    /// <param name="command">The client's name for this command: repeated, it gives the same job. Null makes a new job each time.</param>
    /// <param name="decision">Who, and why.</param>
    /// <param name="cancellationToken">Is looked at before anything is made.</param>
    /// <exception cref="Errors.EsbException">
    /// <c>ESB-REPLAY-ENDPOINT</c>: an endpoint is not there, or subscribes to nothing. <c>ESB-REPLAY-ORDER</c>: it needs <see cref="ReplayRequest.OutOfOrder"/>.
    /// <c>ESB-REPLAY-LIMIT</c>: there are more than <see cref="ReplayRequest.MaxUnlimited"/>, and nobody says how many are meant. <c>ESB-REPLAY-NOTHING</c>: no letter is to be had. <c>ESB-REPLAY-COMMAND</c>: the command was used for something else.
    /// </exception>
    Task<ReplayJob> ReplayAsync(ReplayRequest request, string? command, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Pauses, resumes (<see cref="ReplayState.Running"/>) or cancels a job; doing it again changes nothing.</summary>
    /// <returns>The job as it is now; null where there is none.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-REPLAY-OVER</c>: it is over in another way.</exception>
    Task<ReplayJob?> ChangeAsync(Guid job, ReplayState state, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Gives letters up; they are kept.</summary>
    /// <returns>How many.</returns>
    Task<long> DiscardAsync(DeadLetterFilter filter, OperatorDecision decision, CancellationToken cancellationToken);
}

/// <summary>What a replay would do.</summary>
/// <param name="Count">How many letters it would send.</param>
/// <param name="Groups">Which, by endpoint, code and cause.</param>
/// <param name="Obstacles">What would keep it from being made; empty where nothing does.</param>
public sealed record ReplayPreview(long Count, IReadOnlyList<DeadLetterGroup> Groups, IReadOnlyList<string> Obstacles);
