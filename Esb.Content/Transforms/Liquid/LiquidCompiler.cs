using System.Globalization;
using System.Text.RegularExpressions;
using Fluid;

namespace Esb.Content.Transforms.Liquid;

/// <summary>Parses Liquid templates. A template is one file: <c>include</c>, <c>render</c> and <c>from</c> are unknown.</summary>
internal static partial class LiquidCompiler
{
    public const string Code = "ESB-LQD-COMPILE";

    private static readonly FluidParser Parser = CreateParser();

    /// <summary>The parsed template, which any number of threads may run.</summary>
    /// <param name="file">The template.</param>
    /// <param name="longestRange">Most items of a range.</param>
    /// <exception cref="MapFileException"><c>ESB-LQD-COMPILE</c>.</exception>
    public static IFluidTemplate Compile(MapText file, int longestRange)
    {
        if (Parser.TryParse(file.Text, out var template, out var error))
            return new RangeLimiter(longestRange).VisitTemplate(template);
        var problem = error.Split('\n')[0].TrimEnd();
        var (line, column) = (1, 1);
        if (Place().Match(problem) is { Success: true } place)
        {
            (line, column) = (
                int.Parse(place.Groups[1].ValueSpan, CultureInfo.InvariantCulture),
                int.Parse(place.Groups[2].ValueSpan, CultureInfo.InvariantCulture)
            );
            problem = problem[..place.Index];
        }

        throw new MapFileException(Code, problem, new Uri(file.Path).AbsoluteUri, line, column);
    }

    private static FluidParser CreateParser()
    {
        var parser = new FluidParser();
        foreach (var tag in new[] { "include", "render", "from" })
            parser.RegisteredTags.Remove(tag);
        return parser;
    }

    [GeneratedRegex(@" at \(([0-9]{1,9}):([0-9]{1,9})\)$")]
    private static partial Regex Place();
}
