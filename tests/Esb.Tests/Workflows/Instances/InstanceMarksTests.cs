using Esb.Configuration;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Running;
using NSubstitute;

namespace Esb.Tests.Workflows.Instances;

/// <summary>The load of instances counts those that have not ended.</summary>
public sealed class InstanceMarksTests
{
    [Test]
    public async Task Living_instances_of_all_workflows_and_states_count()
    {
        var store = Substitute.For<IWorkflowStore>();
        store
            .LivingAsync(Arg.Any<CancellationToken>())
            .Returns([new LivingCount("any", WorkflowState.Waiting, 2), new LivingCount("other", WorkflowState.CompensationFailed, 3)]);
        var marks = new InstanceMarks(store, new LimitsConfig { InstancesHigh = 10 });

        var measure = (await marks.MeasureAsync(CancellationToken.None)).Single();

        Assert.That(measure.Value, Is.EqualTo(5));
    }
}
