using System.Globalization;
using SideBySide.Measuring;

namespace SideBySide.Targets;

/// <summary>Reads the line that <c>check.lua</c> prints: requests, microseconds, wrong answers, broken connections, and two
/// latencies.</summary>
internal static class WrkOutput
{
    /// <exception cref="NotRunException">There is no such line.</exception>
    public static Load Parse(string output)
    {
        var line =
            output.Split('\n').FirstOrDefault(line => line.StartsWith("RESULT ", StringComparison.Ordinal))
            ?? throw new NotRunException($"wrk gave no result: {output.Trim()}");
        var numbers = line.Split(' ').Skip(1).Select(number => long.Parse(number, CultureInfo.InvariantCulture)).ToArray();
        var (requests, microseconds, wrong, broken) = (numbers[0], numbers[1], numbers[2], numbers[3]);
        return new Load(requests, requests * 1e6 / microseconds, Flaw(requests, wrong, broken));
    }

    private static string? Flaw(long requests, long wrong, long broken) =>
        requests == 0 ? "no answer at all"
        : wrong > 0 ? $"{wrong} of {requests} answers were wrong"
        : broken > 0 ? $"{broken} connections broke or waited too long"
        : null;
}
