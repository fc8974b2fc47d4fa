using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Marks;

namespace Esb.Delivery.Marks;

/// <summary>The processor time that the host uses, and the threads that run or wait for a processor.</summary>
internal sealed class ProcessorMarks(ProcessorLoad load, Live<LimitsConfig> limits) : IMarkSource
{
    public ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken)
    {
        load.Measure();
        var (marks, measures) = (limits.Current, new List<MarkMeasure>());
        if (marks.ProcessorHigh is { } high && load.Usage is { } usage)
            measures.Add(new MarkMeasure(MarkNames.Processor, null, usage, high, marks.ProcessorLow ?? high / 2, "%"));
        if (marks.ProcessorQueueHigh is { } most && load.Queue is { } queue)
            measures.Add(
                new MarkMeasure(MarkNames.ProcessorQueue, null, queue, most, marks.ProcessorQueueLow ?? most / 2, "threads per processor")
            );
        return new(measures);
    }
}
