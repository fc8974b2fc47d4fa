using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>A subscription whose limits can change: each change stops the workers and starts new ones.</summary>
internal sealed class MemorySubscription(Subscription subscription, Func<Subscription, MemoryWorkers> start) : ITopicSubscription
{
    private readonly SemaphoreSlim _tuning = new(1, 1);
    private volatile MemoryWorkers? _workers = start(subscription);
    private volatile bool _isPaused;
    private bool _isDisposed;

    public bool IsLive => _workers?.AreWorking == true;

    public bool IsPaused => _isPaused;

    public string? Reason => null;

    public Task TuneAsync(int concurrency, int prefetch, bool isPaused, CancellationToken cancellationToken) =>
        ChangeAsync(subscription with { Concurrency = concurrency, Prefetch = prefetch }, isPaused).WaitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _tuning.WaitAsync();
        try
        {
            if (_isDisposed)
                return;
            _isDisposed = true;
            if (_workers is { } workers)
                await workers.DisposeAsync();
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
            if (_isDisposed)
                return;
            _isPaused = isPaused;
            if (_workers is { } old)
                await old.DisposeAsync();
            _workers = isPaused ? null : start(changed);
        }
        finally
        {
            _tuning.Release();
        }
    }
}
