namespace Esb.Workflows.Processes.Tracing;

/// <summary>The memory that one trace may take. Thread-safe.</summary>
internal sealed class TraceBudget
{
    /// <summary>The most characters of all bodies of a trace.</summary>
    public const int MostChars = 2 * 1024 * 1024;

    /// <summary>The most steps of all messages of a trace.</summary>
    public const int MostSteps = 20_000;

    private int _chars = MostChars;
    private int _steps = MostSteps;

    /// <summary>Takes the room for a text; false if there is not enough.</summary>
    public bool TryTakeText(int chars) => TryTake(ref _chars, chars);

    /// <summary>Takes the room for a step; false if there is none.</summary>
    public bool TryTakeStep() => TryTake(ref _steps, 1);

    private static bool TryTake(ref int left, int amount)
    {
        if (Interlocked.Add(ref left, -amount) >= 0)
            return true;
        Interlocked.Add(ref left, amount);
        return false;
    }
}
