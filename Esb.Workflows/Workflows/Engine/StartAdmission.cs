using System.Collections.Concurrent;
using Esb.Core.Marks;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Decides whether a workflow may start a further instance: below its <c>maximumInstances</c>, and while the memory of the host is
/// below its mark. Thread-safe.</summary>
/// <remarks>The store counts for all hosts. Each host counts again every 2 s, and every 250 ms near the limit; in between, hosts may exceed
/// it by what they start at the same moment.</remarks>
internal sealed class StartAdmission(IWorkflowStore store, IMarks marks, TimeProvider time)
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(250);

    private readonly ConcurrentDictionary<string, Count> _counts = new();

    /// <summary>The reason why no instance may start now; null if one may.</summary>
    public async ValueTask<string?> FindObstacleAsync(WorkflowModel workflow, CancellationToken cancellationToken)
    {
        if (marks.IsCrossed(MarkNames.Memory))
            return "the memory of the host is above its mark";
        if (workflow.Config.MaximumInstances is not { } most)
            return null;
        return await CountAsync(workflow.Name, most, cancellationToken) < most
            ? null
            : $"{most} instances of '{workflow.Name}' live, which is its maximum";
    }

    /// <summary>How many instances may start now.</summary>
    public async ValueTask<int> CountFreeAsync(WorkflowModel workflow, int wanted, CancellationToken cancellationToken) =>
        await FindObstacleAsync(workflow, cancellationToken) is not null ? 0
        : workflow.Config.MaximumInstances is { } most ? Math.Min(wanted, most - await CountAsync(workflow.Name, most, cancellationToken))
        : wanted;

    /// <summary>Notes that an instance was started, until the store counts it.</summary>
    public void Started(string workflow)
    {
        if (_counts.TryGetValue(workflow, out var count))
            Interlocked.Increment(ref count.Living);
    }

    private async ValueTask<int> CountAsync(string workflow, int most, CancellationToken cancellationToken)
    {
        if (_counts.TryGetValue(workflow, out var known))
        {
            var age = time.GetElapsedTime(known.At);
            if (age < Shortest || (age < Longest && Volatile.Read(ref known.Living) < most / 2))
                return Volatile.Read(ref known.Living);
        }

        var began = time.GetTimestamp();
        var counted = new Count(began) { Living = await store.CountLivingAsync(workflow, most, cancellationToken) };
        _counts[workflow] = counted;
        return counted.Living;
    }

    private sealed class Count(long at)
    {
        public int Living;

        public long At => at;
    }
}
