namespace Esb.Core.Marks;

/// <summary>The marks of this host. Thread-safe.</summary>
public interface IMarks
{
    /// <summary>Every mark as it was measured last.</summary>
    IReadOnlyList<MarkState> All { get; }

    /// <summary>True if a mark of this name, one of <see cref="MarkNames"/>, is crossed. Cheap enough to ask for each message.</summary>
    bool IsCrossed(string name);

    /// <summary>The reason why inbound endpoints take nothing in; null if no mark demands it.</summary>
    string? IntakeObstacle { get; }
}

/// <summary>A mark and whether it is crossed.</summary>
/// <param name="Measure">The last measurement.</param>
/// <param name="IsCrossed">True from the high mark until the load has fallen to the low one.</param>
/// <param name="Since">The time of the last change; null if it has never been crossed.</param>
/// <param name="Crossings">How often it has been crossed since the start.</param>
public sealed record MarkState(MarkMeasure Measure, bool IsCrossed, DateTimeOffset? Since, long Crossings);
