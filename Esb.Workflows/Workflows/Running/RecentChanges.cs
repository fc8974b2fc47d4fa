using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Running;

/// <inheritdoc cref="IWorkflowChanges"/>
internal sealed class RecentChanges : IWorkflowChanges
{
    /// <summary>The most instances that are listed for each workflow; further changes are counted.</summary>
    public const int MostListed = 50;

    private readonly Lock _gate = new();
    private Dictionary<string, Recent> _recent = [];

    /// <summary>Notes a checkpoint that was stored.</summary>
    public void Note(WorkflowInstance instance)
    {
        var change = new WorkflowChange(instance.Id, instance.State, instance.Step, instance.Version);
        lock (_gate)
        {
            if (!_recent.TryGetValue(instance.Workflow, out var recent))
                _recent[instance.Workflow] = recent = new Recent();
            recent.Note(change);
        }
    }

    public IReadOnlyList<WorkflowChanges> Take()
    {
        Dictionary<string, Recent> taken;
        lock (_gate)
        {
            if (_recent.Count == 0)
                return [];
            (taken, _recent) = (_recent, []);
        }

        return [.. taken.Select(one => new WorkflowChanges(one.Key, one.Value.Listed, one.Value.Further))];
    }

    private sealed class Recent
    {
        private readonly List<WorkflowChange> _listed = [];

        public IReadOnlyList<WorkflowChange> Listed => _listed;

        public long Further { get; private set; }

        public void Note(WorkflowChange change)
        {
            var place = _listed.FindIndex(listed => listed.Id == change.Id);
            if (place < 0 && _listed.Count == MostListed)
                Further++;
            else if (place < 0)
                _listed.Add(change);
            else if (_listed[place].Version < change.Version) // callers may arrive out of order
                _listed[place] = change;
        }
    }
}
