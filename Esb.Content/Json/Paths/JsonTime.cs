using Esb.Core.Errors;

namespace Esb.Content.Json.Paths;

/// <summary>Ends a JSONPath evaluation that takes too long: the nodes selected by filters and descendants may grow with the square of the
/// document or worse.</summary>
/// <remarks>Counts only time spent selecting nodes, and only in evaluations that select many: the clock is read once per 1,024
/// nodes.</remarks>
internal sealed class JsonTime(TimeProvider time, TimeSpan limit)
{
    private const int NodesPerLook = 1024;

    private TimeSpan _spent;
    private long? _lastLook;
    private int _nodes;

    /// <summary>Resumes after a pause, which does not count.</summary>
    public void Resume() => (_nodes, _lastLook) = (0, null);

    /// <summary>Counts a node.</summary>
    /// <exception cref="EsbException"><c>ESB-JPT-TIMEOUT</c>.</exception>
    public void Count()
    {
        if (++_nodes < NodesPerLook)
            return;
        _nodes = 0;
        var now = time.GetTimestamp();
        if (_lastLook is { } last)
            _spent += time.GetElapsedTime(last, now);
        _lastLook = now;
        if (_spent > limit)
            throw new EsbException(
                "ESB-JPT-TIMEOUT",
                $"The JSONPath took longer than {limit.TotalSeconds:0.###} s over this body.",
                FaultKind.Invalid
            );
    }
}
