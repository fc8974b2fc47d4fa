using System.Threading.Channels;
using Esb.Core.Errors;

namespace Esb.Storage.Segments;

/// <summary>Lets concurrent callers share one commit: the next group gathers while one is being committed. No call is delayed to fill a
/// group.</summary>
/// <param name="commit">Commits a group, all of it or nothing.</param>
/// <param name="maxGroup">The maximum number of items of a group.</param>
internal sealed class GroupCommit<T> : IAsyncDisposable
{
    private readonly Channel<Entry> _queue;
    private readonly Func<IReadOnlyList<T>, Task> _commit;
    private readonly int _maxGroup;
    private readonly Task _loop;

    public GroupCommit(Func<IReadOnlyList<T>, Task> commit, int maxGroup)
    {
        _commit = commit;
        _maxGroup = maxGroup;
        _queue = Channel.CreateBounded<Entry>(new BoundedChannelOptions(2 * maxGroup) { SingleReader = true });
        _loop = Task.Run(RunAsync);
    }

    /// <summary>Returns once the item is committed.</summary>
    /// <param name="item">What to commit.</param>
    /// <param name="cancellationToken">Observed while the item waits for a place in the queue, never after.</param>
    public Task AddAsync(T item, CancellationToken cancellationToken)
    {
        var entry = new Entry(item);
        return _queue.Writer.TryWrite(entry) ? entry.Task : AddLaterAsync(entry, cancellationToken);
    }

    /// <summary>Commits what is queued, then ends.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _loop;
    }

    // The queue is full, or closed.
    private async Task AddLaterAsync(Entry entry, CancellationToken cancellationToken)
    {
        await _queue.Writer.WriteAsync(entry, cancellationToken);
        await entry.Task;
    }

    private async Task RunAsync()
    {
        var group = new List<Entry>(_maxGroup);
        while (await _queue.Reader.WaitToReadAsync())
        {
            while (group.Count < _maxGroup && _queue.Reader.TryRead(out var entry))
                group.Add(entry);
            await CommitAsync(group);
            group.Clear();
        }
    }

    private async Task CommitAsync(IReadOnlyList<Entry> group)
    {
        try
        {
            await _commit([.. group.Select(entry => entry.Item)]);
        }
        catch (EsbException ex) when (!ex.IsTransient && group.Count > 1)
        {
            foreach (var entry in group)
                await CommitAsync([entry]); // a refused item does not fail the others
            return;
        }
        catch (Exception ex)
        {
            foreach (var entry in group)
                entry.SetException(ex);
            return;
        }

        foreach (var entry in group)
            entry.SetResult();
    }

    private sealed class Entry(T item) : TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)
    {
        public T Item => item;
    }
}
