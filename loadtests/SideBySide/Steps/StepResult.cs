using System.Globalization;

namespace SideBySide.Steps;

/// <summary>What k6 counted in one step.</summary>
/// <param name="Callers">Virtual users.</param>
/// <param name="PerSecond">Right answers.</param>
/// <param name="Wrong">Answers that differ, and requests without one.</param>
/// <param name="P95">Milliseconds within which 95 of 100 answers came.</param>
internal sealed record StepResult(int Callers, double PerSecond, long Wrong, double P95)
{
    /// <param name="line">As <c>mediation.js</c> writes it.</param>
    public static StepResult Parse(int callers, string line)
    {
        var numbers = line.Trim().Split(' ').Select(number => double.Parse(number, CultureInfo.InvariantCulture)).ToArray();
        return new StepResult(callers, numbers[0] * 1_000 / numbers[2], (long)numbers[1], numbers[4]);
    }

    /// <summary>The best rate over all steps; one wrong answer in any of them spoils the row.</summary>
    public static string Best(IReadOnlyCollection<StepResult> steps)
    {
        if (steps.Sum(step => step.Wrong) is > 0 and var wrong)
            return $"{wrong} answers were wrong";
        var best = steps.MaxBy(step => step.PerSecond)!;
        return string.Create(CultureInfo.InvariantCulture, $"{best.PerSecond:#,0}/s, p95 {best.P95:0.#} ms, {best.Callers} callers");
    }
}
