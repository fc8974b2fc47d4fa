using Esb.Core.Storage;

namespace Esb.Delivery.Modes;

/// <summary>How a standstill ends.</summary>
internal enum MoveOn
{
    /// <summary>Its time came to try again.</summary>
    Pace,

    /// <summary>An operator wants it tried again.</summary>
    Retry,

    /// <summary>An operator gives the message up.</summary>
    Discard,
}

/// <summary>The end of a standstill.</summary>
/// <param name="How">What is done next.</param>
/// <param name="Decision">Who wanted it, and why; null where nobody did.</param>
internal sealed record StandstillEnd(MoveOn How, OperatorDecision? Decision);

/// <summary>An endpoint that stands at a message, until it is time to try again or an operator decides. Thread-safe.</summary>
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
        catch (TimeoutException)
        {
            return _ended.TrySetResult(InTime) ? InTime : await _ended.Task;
        }
    }
}
