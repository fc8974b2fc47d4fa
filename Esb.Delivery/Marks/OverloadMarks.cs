using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Marks;
using Esb.Delivery.Intake.Overload;

namespace Esb.Delivery.Marks;

/// <summary>The marks that the intake itself enforces: calls under way, and memory.</summary>
internal sealed class OverloadMarks(OverloadGate gate, MemoryMarks memory, Live<LimitsConfig> limits) : IMarkSource
{
    private const string Effect = "callers get 503 and messages that can wait stay where they are";

    public ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken)
    {
        var marks = limits.Current;
        return new([
            new MarkMeasure(MarkNames.InFlight, null, gate.InFlight, marks.InFlightHigh, marks.InFlightLow, "calls")
            {
                Effect = Effect,
                IsCrossed = gate.IsCrowded,
            },
            new MarkMeasure(MarkNames.Memory, null, memory.InUse, marks.MemoryHigh, marks.MemoryLow, "%")
            {
                Effect = Effect,
                IsCrossed = memory.AreTight,
            },
        ]);
    }
}
