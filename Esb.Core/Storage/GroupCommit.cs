using System.Threading.Channels;
using Esb.Core.Errors;

namespace Esb.Core.Storage;

/// <summary>Lets concurrent callers share one commit: the next group gathers while one is being committed. No caller is delayed to fill a
/// group. Thread-safe.</summary>
/// <typeparam name="TItem">What a caller brings.</typeparam>
/// <typeparam name="TResult">What the caller receives.</typeparam>
public sealed class GroupCommit<TItem, TResult> : IAsyncDisposable
{
    private const long LargestGroup = 32L << 20; // bytes; a statement of PostgreSQL ends at 1 GiB

    private readonly Func<IReadOnlyList<TItem>, Task<IReadOnlyList<TResult>>> _commit;
    private readonly Func<EsbException, bool> _isRefusal;
    private readonly Func<TItem, long>? _sizeOf;
    private readonly int _maxGroup;
    private readonly Channel<Entry> _queue;
    private readonly Task _loop;

    /// <param name="commit">Commits a group, all of it or nothing; returns a result for each item, in their order.</param>
    /// <param name="isRefusal">Whether a failure may concern one item, so that each is committed alone; by default a failure that is not
    /// transient. Failures that are no <see cref="EsbException"/> always may.</param>
    /// <param name="maxGroup">The maximum number of items of a group. Twice as many wait; further callers wait for a place.</param>
    /// <param name="sizeOf">The bytes of an item, if it may be large: a group ends at 32 MiB.</param>
    public GroupCommit(
        Func<IReadOnlyList<TItem>, Task<IReadOnlyList<TResult>>> commit,
        Func<EsbException, bool>? isRefusal = null,
        int maxGroup = 256,
        Func<TItem, long>? sizeOf = null
    )
    {
        (_commit, _isRefusal, _maxGroup, _sizeOf) = (commit, isRefusal ?? (failure => !failure.IsTransient), maxGroup, sizeOf);
        _queue = Channel.CreateBounded<Entry>(new BoundedChannelOptions(2 * maxGroup) { SingleReader = true });
        _loop = Task.Run(RunAsync);
    }

    /// <summary>Returns once the item is committed.</summary>
    /// <param name="item">What to commit.</param>
    /// <param name="cancellationToken">Observed while the item waits for a place in the queue, never after.</param>
    /// <exception cref="EsbException">The item is not known to be committed: the failure of the commit, or <c>ESB-STORE-WRITE</c> with it
    /// as the inner exception; <c>ESB-STORE-AWAY</c> after the end.</exception>
    public Task<TResult> CommitAsync(TItem item, CancellationToken cancellationToken = default)
    {
        var entry = new Entry(item);
        return _queue.Writer.TryWrite(entry) ? entry.Task : CommitLaterAsync(entry, cancellationToken);
    }

    /// <summary>Commits what is queued, then ends.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _loop;
    }

    // The queue is full, or closed.
    private async Task<TResult> CommitLaterAsync(Entry entry, CancellationToken cancellationToken)
    {
        try
        {
            await _queue.Writer.WriteAsync(entry, cancellationToken);
        }
        catch (ChannelClosedException ex)
        {
            throw new EsbException("ESB-STORE-AWAY", "The host is stopping.", FaultKind.Unavailable, ex);
        }

        return await entry.Task;
    }

    private async Task RunAsync()
    {
        var group = new List<Entry>(_maxGroup);
        while (await _queue.Reader.WaitToReadAsync())
        {
            var size = 0L;
            while (group.Count < _maxGroup && size < LargestGroup && _queue.Reader.TryRead(out var entry))
            {
                group.Add(entry);
                size += _sizeOf?.Invoke(entry.Item) ?? 0;
            }

            await CommitAsync(group);
            group.Clear();
        }
    }

    private async Task CommitAsync(IReadOnlyList<Entry> group)
    {
        IReadOnlyList<TResult> results;
        try
        {
            results = await _commit([.. group.Select(entry => entry.Item)]);
        }
        catch (Exception ex) when (group.Count > 1 && (ex is not EsbException failure || _isRefusal(failure)))
        {
            foreach (var entry in group)
                await CommitAsync([entry]); // an item that is refused does not fail the others
            return;
        }
        catch (Exception ex)
        {
            var failure =
                ex as EsbException ?? new EsbException("ESB-STORE-WRITE", "The store could not be written.", FaultKind.Unavailable, ex);
            foreach (var entry in group)
                entry.SetException(failure);
            return;
        }

        for (var i = 0; i < group.Count; i++)
            group[i].SetResult(results[i]);
    }

    private sealed class Entry(TItem item) : TaskCompletionSource<TResult>(TaskCreationOptions.RunContinuationsAsynchronously)
    {
        public TItem Item => item;
    }
}

/// <summary>Makes a <see cref="GroupCommit{TItem,TResult}"/> of a commit without results.</summary>
public static class GroupCommit
{
    /// <param name="commit">Commits a group, all of it or nothing.</param>
    /// <param name="isRefusal">As of <see cref="GroupCommit{TItem,TResult}"/>.</param>
    /// <param name="maxGroup">The maximum number of items of a group.</param>
    public static GroupCommit<TItem, ValueTuple> Of<TItem>(
        Func<IReadOnlyList<TItem>, Task> commit,
        Func<EsbException, bool>? isRefusal = null,
        int maxGroup = 256
    ) =>
        new(
            async group =>
            {
                await commit(group);
                return new ValueTuple[group.Count];
            },
            isRefusal,
            maxGroup
        );
}
