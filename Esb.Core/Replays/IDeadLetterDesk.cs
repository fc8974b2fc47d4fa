using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>Operator actions on dead letters; every action is recorded. Thread-safe.</summary>
public interface IDeadLetterDesk
{
    /// <summary>Previews a replay without changing anything.</summary>
    Task<ReplayPreview> PreviewAsync(ReplayRequest request, CancellationToken cancellationToken);

    /// <summary>Creates a replay job.</summary>
    /// <param name="request">The request.</param>
    /// <param name="command">The client's name for this command: repeated, it returns the same job. Null creates a new job each
    /// time.</param>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="cancellationToken">Checked before anything is created.</param>
    /// <exception cref="Errors.EsbException">
    /// <c>ESB-REPLAY-ENDPOINT</c>: an endpoint does not exist, or has no subscription. <c>ESB-REPLAY-ORDER</c>: it requires
    /// <see cref="ReplayRequest.OutOfOrder"/>.
    /// <c>ESB-REPLAY-LIMIT</c>: more than <see cref="ReplayRequest.MaxUnlimited"/> letters match, and no limit is given.
    /// <c>ESB-REPLAY-NOTHING</c>: no letter is available. <c>ESB-REPLAY-COMMAND</c>: the command was used for another request.
    /// </exception>
    Task<ReplayJob> ReplayAsync(ReplayRequest request, string? command, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Pauses, resumes (<see cref="ReplayState.Running"/>) or cancels a job; a repetition changes nothing.</summary>
    /// <returns>The current job; null if it does not exist.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-REPLAY-OVER</c>: it has ended in another state.</exception>
    Task<ReplayJob?> ChangeAsync(Guid job, ReplayState state, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Discards letters; they are kept in the store.</summary>
    /// <returns>Number of letters discarded.</returns>
    Task<long> DiscardAsync(DeadLetterFilter filter, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Keeps a body that replays send instead of the letter's own, which stays.</summary>
    /// <param name="letter">The letter.</param>
    /// <param name="body">The body; null to send the letter's own again.</param>
    /// <param name="expected">The digest of the body that would be sent before the edit, as the operator saw it.</param>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="cancellationToken">Checked before anything changes.</param>
    /// <returns>The letter as it is now; null if it does not exist.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-LETTER-CHANGED</c>, <c>ESB-LETTER-HELD</c>: see
    /// <see cref="IDeadLetterStore.EditAsync"/>.</exception>
    Task<KeptDeadLetter?> EditAsync(
        Guid letter,
        EditedBody? body,
        string expected,
        OperatorDecision decision,
        CancellationToken cancellationToken
    );
}

/// <summary>A body that an operator has edited.</summary>
/// <param name="Bytes">The bytes.</param>
/// <param name="ContentType">Their media type; null for that of the letter.</param>
public sealed record EditedBody(ReadOnlyMemory<byte> Bytes, string? ContentType);

/// <summary>Preview of a replay.</summary>
/// <param name="Count">Number of letters it would send.</param>
/// <param name="Groups">The letters, by endpoint, code and cause.</param>
/// <param name="Obstacles">Reasons that prevent the job from being created; empty if none.</param>
public sealed record ReplayPreview(long Count, IReadOnlyList<DeadLetterGroup> Groups, IReadOnlyList<string> Obstacles);
