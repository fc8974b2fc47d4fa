namespace Esb.Workflows.Processes.Steps;

/// <summary>A code of failures; a <c>*</c> at its end stands for any rest.</summary>
internal static class CodePattern
{
    public static bool Matches(string pattern, string code) =>
        pattern.EndsWith('*') ? code.StartsWith(pattern[..^1], StringComparison.Ordinal) : code == pattern;
}
