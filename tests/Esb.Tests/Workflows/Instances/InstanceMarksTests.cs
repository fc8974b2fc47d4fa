using Esb.Configuration;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Running;
using NSubstitute;

namespace Esb.Tests.Workflows.Instances;

/// <summary>The load of instances counts those that have not ended.</summary>
public sealed class InstanceMarksTests
{
    [Test]
    public async Task Instances_that_have_ended_in_any_way_do_not_count()
    {
        var store = Substitute.For<IWorkflowStore>();
        store
            .CountAsync(Arg.Any<CancellationToken>())
            .Returns([.. Enum.GetValues<WorkflowState>().Select(state => new WorkflowCount("any", "", state, "", 1))]);
        var marks = new InstanceMarks(store, new LimitsConfig { InstancesHigh = 10 });

        var measure = (await marks.MeasureAsync(CancellationToken.None)).Single();

        Assert.That(measure.Value, Is.EqualTo(Enum.GetValues<WorkflowState>().Count(state => !WorkflowInstance.HasEnded(state))));
    }
}
