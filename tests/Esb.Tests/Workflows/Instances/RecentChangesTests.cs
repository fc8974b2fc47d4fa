using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Running;

namespace Esb.Tests.Workflows.Instances;

/// <summary>What those who watch workflows hear, and that it takes little memory.</summary>
public sealed class RecentChangesTests
{
    [Test]
    public void Last_state_of_an_instance_counts_and_is_told_once()
    {
        var changes = new RecentChanges();
        var id = Guid.NewGuid();

        changes.Note(Instance(id, 1, WorkflowState.Running));
        changes.Note(Instance(id, 3, WorkflowState.Suspended));
        changes.Note(Instance(id, 2, WorkflowState.Waiting)); // its caller was slower

        var told = changes.Take().Single();
        Assert.That(told.Workflow, Is.EqualTo("fulfil"));
        Assert.That(told.Instances, Is.EqualTo([new WorkflowChange(id, WorkflowState.Suspended, "charge", 3)]));
        Assert.That(told.Further, Is.Zero);
        Assert.That(changes.Take(), Is.Empty);
    }

    [Test]
    public void Many_changes_are_counted_instead_of_listed()
    {
        var changes = new RecentChanges();

        for (var i = 0; i < RecentChanges.MostListed + 7; i++)
            changes.Note(Instance(Guid.NewGuid(), 1, WorkflowState.Running));

        var told = changes.Take().Single();
        Assert.That(told.Instances, Has.Count.EqualTo(RecentChanges.MostListed));
        Assert.That(told.Further, Is.EqualTo(7));
    }

    private static WorkflowInstance Instance(Guid id, int version, WorkflowState state) =>
        new()
        {
            Id = id,
            Workflow = "fulfil",
            Definition = "0123456789abcdef",
            Version = version,
            State = state,
            Step = "charge",
            StartedBy = id,
            ConversationId = id,
        };
}
