namespace Esb.IntegrationTests.Topics.Queues;

/// <summary>What a <see cref="BrokerProxy"/> holds: the word of a client that it consumes a queue.</summary>
internal sealed class HeldConsume
{
    private readonly TaskCompletionSource _arrived = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _released = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Completes once it has been said.</summary>
    public Task Arrived => _arrived.Task;

    public void Release() => _released.TrySetResult();

    public Task HoldAsync(CancellationToken cancellationToken)
    {
        _arrived.TrySetResult();
        return _released.Task.WaitAsync(cancellationToken);
    }
}
