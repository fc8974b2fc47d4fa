using System.Data.Common;
using System.Threading.Channels;
using Esb.Core.Errors;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Stores what many callers bring in one commit: while one group is being stored, the next one gathers. Thread-safe.</summary>
/// <typeparam name="TItem">What a caller brings.</typeparam>
/// <typeparam name="TResult">What the caller learns of it.</typeparam>
/// <param name="store">Stores a group; returns a result for each item, in their order.</param>
/// <param name="sizeOf">The bytes of an item, where it may be large.</param>
internal sealed class GroupedCommits<TItem, TResult>(
    Func<IReadOnlyList<TItem>, Task<IReadOnlyList<TResult>>> store,
    Func<TItem, long>? sizeOf = null
) : IAsyncDisposable
{
    private const int MostInGroup = 256;
    private const long LargestGroup = 32L << 20; // a statement of PostgreSQL ends at 1 GiB

    // Bounded by the concurrent deliveries, timers and callers: each waits for its commit.
    private readonly Channel<Pending> _waiting = Channel.CreateUnbounded<Pending>(new UnboundedChannelOptions { SingleReader = true });

    private Task? _running;

    /// <summary>Stores an item; it is durable when this returns.</summary>
    /// <exception cref="EsbException">It is not known to be stored.</exception>
    public Task<TResult> CommitAsync(TItem item)
    {
        EnsureRunning();
        var pending = new Pending(item);
        return _waiting.Writer.TryWrite(pending)
            ? pending.Done.Task
            : throw new EsbException("ESB-STORE-AWAY", "The host is stopping.", FaultKind.Unavailable);
    }

    public async ValueTask DisposeAsync()
    {
        _waiting.Writer.TryComplete();
        if (_running is { } running)
            await running;
    }

    private void EnsureRunning()
    {
        if (_running is not null)
            return;
        lock (_waiting)
            _running ??= Task.Run(RunAsync);
    }

    private async Task RunAsync()
    {
        var group = new List<Pending>(MostInGroup);
        while (await _waiting.Reader.WaitToReadAsync())
        {
            var size = 0L;
            while (group.Count < MostInGroup && size < LargestGroup && _waiting.Reader.TryRead(out var pending))
            {
                group.Add(pending);
                size += sizeOf?.Invoke(pending.Item) ?? 0;
            }

            await StoreAsync(group);
            group.Clear();
        }
    }

    private async Task StoreAsync(IReadOnlyList<Pending> group)
    {
        try
        {
            var results = await store([.. group.Select(pending => pending.Item)]);
            for (var i = 0; i < group.Count; i++)
                group[i].Done.SetResult(results[i]);
        }
        catch (Exception ex)
        {
            var failure =
                ex as EsbException ?? new EsbException("ESB-STORE-WRITE", "The store could not be written.", FaultKind.Unavailable, ex);
            foreach (var pending in group)
            {
                if (group.Count > 1 && (ex is not EsbException || failure.InnerException is DbException { IsTransient: false }))
                    await StoreAsync([pending]); // what cannot be stored, or is refused by the database, stops none of the others
                else
                    pending.Done.SetException(failure);
            }
        }
    }

    private sealed record Pending(TItem Item)
    {
        public TaskCompletionSource<TResult> Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
