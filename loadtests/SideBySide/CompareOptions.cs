using System.Globalization;
using SideBySide.Measuring;

namespace SideBySide;

/// <summary>What the command line of <c>loadtests/compare</c> says.</summary>
/// <param name="Wanted">The scenarios to run; empty for all.</param>
/// <param name="IsQuick">Whether the figures are not published: too short, or beside an earlier build.</param>
internal sealed record CompareOptions(Method Method, IReadOnlySet<string> Wanted, bool IsQuick)
{
    /// <summary>The repository of an earlier build, which is the only peer; null for the usual ones.</summary>
    public string? Earlier { get; private init; }

    /// <exception cref="ArgumentException">Something is unknown.</exception>
    public static CompareOptions Parse(IReadOnlyList<string> arguments)
    {
        var isQuick = arguments.Contains("--quick");
        var method = isQuick ? Method.Quick : Method.Full;
        var wanted = new HashSet<string>();
        string? earlier = null;
        for (var index = 0; index < arguments.Count; index++)
        {
            switch (arguments[index])
            {
                case "--quick":
                    break;
                case "--rounds":
                    method = method with { Rounds = Number(arguments, ++index) };
                    break;
                case "--seconds":
                    method = method with { Round = TimeSpan.FromSeconds(Number(arguments, ++index)) };
                    break;
                case "--warm-up":
                    method = method with { WarmUp = TimeSpan.FromSeconds(Number(arguments, ++index)) };
                    break;
                case "--earlier":
                    earlier = Text(arguments, ++index);
                    break;
                case "--flames":
                    method = method with { Flames = Text(arguments, ++index) };
                    break;
                case ['S', .. var number] id when int.TryParse(number, CultureInfo.InvariantCulture, out _):
                    wanted.Add(id);
                    break;
                case var unknown:
                    throw new ArgumentException($"unknown: {unknown}");
            }
        }

        var isShort = method.Rounds < Method.Full.Rounds || method.Round < Method.Full.Round || method.WarmUp < Method.Full.WarmUp;
        return new CompareOptions(method, wanted, isQuick || isShort || earlier is not null || method.Flames is not null)
        {
            Earlier = earlier,
        };
    }

    private static int Number(IReadOnlyList<string> arguments, int index) =>
        index < arguments.Count && int.TryParse(arguments[index], CultureInfo.InvariantCulture, out var number) && number > 0
            ? number
            : throw new ArgumentException($"{arguments[index - 1]} wants a number above 0");

    private static string Text(IReadOnlyList<string> arguments, int index) =>
        index < arguments.Count ? arguments[index] : throw new ArgumentException($"{arguments[index - 1]} wants a folder");
}
