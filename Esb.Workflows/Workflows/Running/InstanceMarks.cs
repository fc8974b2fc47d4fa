using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Marks;
using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Running;

/// <summary>The workflow instances that have not ended.</summary>
internal sealed class InstanceMarks(IWorkflowStore store, Live<LimitsConfig> limits) : IMarkSource
{
    public TimeSpan Interval => TimeSpan.FromSeconds(5);

    public async ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken)
    {
        if (limits.Current.InstancesHigh is not { } high)
            return [];
        var open = (await store.LivingAsync(cancellationToken)).Sum(count => count.Count);
        return [new MarkMeasure(MarkNames.Instances, null, open, high, limits.Current.InstancesLow ?? high / 2, "instances")];
    }
}
