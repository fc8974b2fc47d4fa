using Esb.Core.Errors;

namespace Esb.Content.Expressions;

/// <summary>Ends an evaluation that takes too long: what XPath computes over a tree may grow with the square of the tree and
/// worse.</summary>
internal sealed class EvaluationTime(TimeProvider time, TimeSpan limit)
{
    /// <summary>What an evaluation fails with that takes too long.</summary>
    public const string Code = "ESB-XPT-TIMEOUT";

    private const int MovesPerLook = 4096; // a move takes nanoseconds, a look at the clock as well

    private readonly long _start = time.GetTimestamp();
    private int _moves;

    /// <summary>Counts a move from node to node.</summary>
    /// <exception cref="EsbException"><c>ESB-XPT-TIMEOUT</c>.</exception>
    public void Move()
    {
        if (++_moves < MovesPerLook)
            return;
        _moves = 0;
        if (time.GetElapsedTime(_start) > limit)
            throw new EsbException(Code, $"The XPath took longer than {limit.TotalSeconds:0.###} s over this body.", FaultKind.Invalid);
    }
}
