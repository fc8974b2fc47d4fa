namespace Esb.Workflows.Processes.Steps;

/// <summary>A status code, or a class of them: <c>404</c>, <c>2xx</c>.</summary>
internal sealed record StatusPattern(int From, int To)
{
    public static StatusPattern? Parse(string text)
    {
        if (text is not [>= '1' and <= '5' and var first, _, _]) return null;
        if (text.EndsWith("xx", StringComparison.Ordinal)) return new StatusPattern((first - '0') * 100, ((first - '0') * 100) + 99);
        return int.TryParse(text, out var code) ? new StatusPattern(code, code) : null;
    }

    public bool Matches(int status) => status >= From && status <= To;
}
