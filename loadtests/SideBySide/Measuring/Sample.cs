namespace SideBySide.Measuring;

/// <summary>What one round of one side gave.</summary>
/// <param name="PerSecond">Messages, each with a right answer or a row at the far end.</param>
/// <param name="CpuMicroseconds">Processor time of the side itself for one message; null where it is not known.</param>
/// <param name="AllocatedBytes">Bytes that the side allocated for one message; null where it cannot be asked.</param>
/// <param name="Flaw">What was wrong; a side with a flaw has no figures.</param>
internal sealed record Sample(double PerSecond, double? CpuMicroseconds = null, double? AllocatedBytes = null, string? Flaw = null)
{
    public static Sample Wrong(string flaw) => new(0, Flaw: flaw);
}
