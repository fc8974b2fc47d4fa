using Esb.Core.Storage;

namespace Esb.Delivery.Modes;

/// <summary>The ways in which a standstill ends.</summary>
internal enum MoveOn
{
    /// <summary>The time of the next attempt has come.</summary>
    Pace,

    /// <summary>An operator retries the message.</summary>
    Retry,

    /// <summary>An operator discards the message.</summary>
    Discard,
}

/// <summary>The end of a standstill.</summary>
/// <param name="How">The next action.</param>
/// <param name="Decision">The operator's decision; null if the standstill ended by itself.</param>
internal sealed record StandstillEnd(MoveOn How, OperatorDecision? Decision);

/// <summary>A standstill of an endpoint at a message, until the next attempt is due or an operator decides. Thread-safe.</summary>
internal sealed class Standstill(Guid messageId)
{
    private static readonly StandstillEnd InTime = new(MoveOn.Pace, null);

    private readonly TaskCompletionSource<StandstillEnd> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Guid MessageId => messageId;

    public bool TryEnd(StandstillEnd end) => _ended.TrySetResult(end);

    public async Task<StandstillEnd> WaitAsync(TimeSpan pace, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            return await _ended.Task.WaitAsync(pace, time, cancellationToken);
        }
        catch (Exception ex) when (ex is TimeoutException or OperationCanceledException)
        {
            if (!_ended.TrySetResult(InTime))
                return await _ended.Task; // the operator was told that the decision is applied
            if (ex is OperationCanceledException)
                throw;
            return InTime;
        }
    }
}
