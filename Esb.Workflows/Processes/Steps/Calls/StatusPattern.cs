using System.Globalization;
using Esb.Core.Configuration.Settings;

namespace Esb.Workflows.Processes.Steps;

/// <summary>A status code, a class of them, or all: <c>404</c>, <c>2xx</c>, <c>any</c>.</summary>
internal sealed record StatusPattern(int From, int To) : ITextSetting<StatusPattern>
{
    /// <summary>The statuses of success.</summary>
    public static readonly StatusPattern Success = new(200, 299);

    public static string Code => "ESB-CFG-VALUE";

    public static string Expected => "expected a status such as 404, a class such as \"2xx\", a list of them, or \"any\"";

    public static bool TakesNumbers => true;

    public (string Section, string Name)? Reference => null;

    public static StatusPattern? Parse(string text)
    {
        if (text == "any")
            return new StatusPattern(0, int.MaxValue);
        if (text is not [>= '1' and <= '5' and var first, _, _])
            return null;
        if (text.EndsWith("xx", StringComparison.Ordinal))
            return new StatusPattern((first - '0') * 100, ((first - '0') * 100) + 99);
        return text.All(char.IsAsciiDigit) ? StatusOf(int.Parse(text, CultureInfo.InvariantCulture)) : null;
    }

    public bool Matches(int status) => status >= From && status <= To;

    private static StatusPattern StatusOf(int code) => new(code, code);
}
