using System.Runtime.CompilerServices;
using Jint;

namespace Esb.Content.Transforms.Scripts;

/// <summary>Ends a run that exceeds its limits; the engine asks before each statement. One run at a time; not thread-safe.</summary>
/// <remarks>
/// The stack is measured here as well, because recursion through coercions reaches no other check of the engine. Allocated bytes are
/// measured at each statement: one statement can double a text.
/// </remarks>
internal sealed class ScriptBudget(TimeProvider time, MapLimitsConfig limits) : Constraint
{
    private long _start;
    private long _allocated;
    private int _statements;

    /// <summary>Never amortized: it counts its calls.</summary>
    public override bool IsAmortizable => false;

    /// <summary>Largest text, in characters, that one built-in function may make.</summary>
    public long LongestText => limits.Memory.Bytes / sizeof(char);

    /// <summary>Begins a run on the current thread.</summary>
    public void Begin()
    {
        _start = time.GetTimestamp();
        _allocated = GC.GetAllocatedBytesForCurrentThread();
        _statements = 0;
    }

    /// <exception cref="ScriptLimitException">A limit is exceeded.</exception>
    public override void Check()
    {
        if (++_statements > limits.Statements)
            throw new ScriptLimitException($"it executed more than {limits.Statements} statements");
        if (GC.GetAllocatedBytesForCurrentThread() - _allocated > limits.Memory.Bytes)
            throw new ScriptLimitException($"it allocated more than {limits.Memory}");
        if (time.GetElapsedTime(_start) > limits.Time)
            throw TooLong();
        CheckStack();
    }

    /// <summary>Does nothing: the module and its function share one budget.</summary>
    public override void Reset() { }

    /// <summary>The failure of a run that takes too long.</summary>
    public ScriptLimitException TooLong() => new($"it took longer than {limits.Time.TotalSeconds:0.###} s");

    /// <exception cref="ScriptLimitException">The stack is nearly used up.</exception>
    public static void CheckStack()
    {
        if (!RuntimeHelpers.TryEnsureSufficientExecutionStack())
            throw new ScriptLimitException("it recurses too deep");
    }
}
