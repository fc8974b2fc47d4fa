namespace Esb.Endpoints.Delivery.Modes;

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

/// <summary>An endpoint that stands at a message, until it is time to try again or an operator decides. Thread-safe.</summary>
internal sealed class Standstill(Guid messageId)
{
    private readonly TaskCompletionSource<MoveOn> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Guid MessageId => messageId;

    public bool TryEnd(MoveOn how) => _ended.TrySetResult(how);

    public async Task<MoveOn> WaitAsync(TimeSpan pace, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            return await _ended.Task.WaitAsync(pace, time, cancellationToken);
        }
        catch (TimeoutException)
        {
            return _ended.TrySetResult(MoveOn.Pace) ? MoveOn.Pace : await _ended.Task;
        }
    }
}
