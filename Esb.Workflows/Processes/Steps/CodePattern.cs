namespace Esb.Workflows.Processes.Steps;

/// <summary>A pattern for failure codes; a trailing <c>*</c> matches any suffix.</summary>
internal static class CodePattern
{
    public static bool Matches(string pattern, string code) =>
        pattern.EndsWith('*') ? code.StartsWith(pattern[..^1], StringComparison.Ordinal) : code == pattern;
}
