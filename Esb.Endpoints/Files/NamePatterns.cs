using System.IO.Enumeration;

namespace Esb.Endpoints.Files;

/// <summary>Patterns of file names, in which <c>*</c> stands for any characters and <c>?</c> for one.</summary>
internal static class NamePatterns
{
    /// <summary>True if a name matches the pattern.</summary>
    public static bool Matches(string pattern, ReadOnlySpan<char> name) =>
        FileSystemName.MatchesSimpleExpression(pattern, name, ignoreCase: OperatingSystem.IsWindows());

    /// <summary>True if some name matches both patterns.</summary>
    public static bool Overlap(string left, string right)
    {
        // Possible overlap from each pair of positions on, computed from the ends backwards.
        var possible = new bool[left.Length + 1, right.Length + 1];
        for (var i = left.Length; i >= 0; i--)
        {
            for (var j = right.Length; j >= 0; j--)
                possible[i, j] = IsPossible(i, j);
        }

        return possible[0, 0];

        bool IsPossible(int i, int j)
        {
            if (i < left.Length && left[i] == '*')
                return possible[i + 1, j] || (j < right.Length && possible[i, j + 1]);
            if (j < right.Length && right[j] == '*')
                return possible[i, j + 1] || (i < left.Length && possible[i + 1, j]);
            if (i == left.Length || j == right.Length)
                return i == left.Length && j == right.Length;
            return (left[i] == right[j] || left[i] == '?' || right[j] == '?') && possible[i + 1, j + 1];
        }
    }
}
