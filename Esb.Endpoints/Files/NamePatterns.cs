using System.IO.Enumeration;

namespace Esb.Endpoints.Files;

/// <summary>Patterns of file names, in which <c>*</c> stands for any characters and <c>?</c> for one.</summary>
internal static class NamePatterns
{
    /// <summary>Whether a pattern takes a name.</summary>
    public static bool Matches(string pattern, ReadOnlySpan<char> name) => FileSystemName.MatchesSimpleExpression(pattern, name, ignoreCase: OperatingSystem.IsWindows());

    /// <summary>Whether there is a name that both patterns take.</summary>
    public static bool Overlap(string left, string right)
    {
        // What is possible from each pair of positions on, from the ends to the beginnings.
        var possible = new bool[left.Length + 1, right.Length + 1];
        for (var i = left.Length; i >= 0; i--)
        {
            for (var j = right.Length; j >= 0; j--) possible[i, j] = IsPossible(i, j);
        }

        return possible[0, 0];

        bool IsPossible(int i, int j)
        {
            if (i < left.Length && left[i] == '*') return possible[i + 1, j] || (j < right.Length && possible[i, j + 1]);
            if (j < right.Length && right[j] == '*') return possible[i, j + 1] || (i < left.Length && possible[i + 1, j]);
            if (i == left.Length || j == right.Length) return i == left.Length && j == right.Length;
            return (left[i] == right[j] || left[i] == '?' || right[j] == '?') && possible[i + 1, j + 1];
        }
    }
}
