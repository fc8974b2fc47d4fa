using Esb.Core.Marks;

namespace Esb.Host.Management.Marks;

/// <summary>A mark of this host in API responses.</summary>
/// <param name="Name">What is measured.</param>
/// <param name="Endpoint">The endpoint; null if it concerns the host.</param>
/// <param name="Value">The load when it was measured last.</param>
/// <param name="Unit">What is counted.</param>
/// <param name="High">The load from which the mark is crossed.</param>
/// <param name="Low">The load down to which it stays so.</param>
/// <param name="IsCrossed">Whether it is crossed.</param>
/// <param name="Since">The time of the last change; null if it has never been crossed.</param>
/// <param name="Crossings">How often it has been crossed since the start.</param>
/// <param name="Effect">What happens while it is crossed; null if it is only shown.</param>
internal sealed record MarkView(
    string Name,
    string? Endpoint,
    double Value,
    string Unit,
    double High,
    double Low,
    bool IsCrossed,
    DateTimeOffset? Since,
    long Crossings,
    string? Effect
)
{
    public static MarkView Of(MarkState state) =>
        new(
            state.Measure.Name,
            state.Measure.Endpoint,
            Math.Round(state.Measure.Value, 1),
            state.Measure.Unit,
            state.Measure.High,
            state.Measure.Low,
            state.IsCrossed,
            state.Since,
            state.Crossings,
            state.Measure.Effect
        );
}
