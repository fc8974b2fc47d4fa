using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>A subscription whose numbers can change: each change ends a receiver and starts another.</summary>
internal sealed class RabbitMqSubscription(Subscription subscription, Func<Subscription, IReceiver> receive) : ITopicSubscription
{
    private readonly SemaphoreSlim _tuning = new(1, 1);
    private Subscription _subscription = subscription;
    private volatile IReceiver? _receiver = receive(subscription);
    private volatile bool _isPaused;
    private bool _isDisposed;

    public bool IsLive => _receiver?.IsLive == true;

    public bool IsPaused => _isPaused;

    public string? Reason => _receiver?.Reason;

    /// <summary>Waits until the first attempt to consume has succeeded or failed.</summary>
    public Task WaitForFirstAttemptAsync(CancellationToken cancellationToken) => _receiver?.WaitForFirstAttemptAsync(cancellationToken) ?? Task.CompletedTask;

    public Task TuneAsync(int concurrency, int prefetch, bool isPaused, CancellationToken cancellationToken) =>
        ChangeAsync(_subscription with { Concurrency = concurrency, Prefetch = prefetch }, isPaused).WaitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _tuning.WaitAsync();
        try
        {
            if (_isDisposed) return;
            _isDisposed = true;
            if (_receiver is { } receiver) await receiver.DisposeAsync();
        }
        finally
        {
            _tuning.Release();
        }
    }

    private async Task ChangeAsync(Subscription changed, bool isPaused)
    {
        await _tuning.WaitAsync();
        try
        {
            if (_isDisposed || (changed == _subscription && isPaused == _isPaused)) return;
            (_subscription, _isPaused) = (changed, isPaused);
            if (_receiver is { } old)
            {
                await old.DisposeAsync(); // first: two receivers of one host would overtake each other
                _receiver = null;
            }

            if (isPaused) return;
            _receiver = receive(changed);
            await _receiver.WaitForFirstAttemptAsync(CancellationToken.None);
        }
        finally
        {
            _tuning.Release();
        }
    }
}
