namespace Esb.Configuration;

/// <summary>Finds the name that was probably meant by a misspelt one.</summary>
public static class NearestName
{
    private const int LongestCompared = 128; // the running time is quadratic

    /// <summary>Returns the name with the fewest differing characters; null if none is near (more than a third of it differs).</summary>
    public static string? Find(string written, IEnumerable<string> names)
    {
        if (written.Length > LongestCompared)
            return null;
        var (nearest, distance) = names
            .Select(name => (name, distance: Distance(written.ToUpperInvariant(), name.ToUpperInvariant())))
            .OrderBy(candidate => candidate.distance)
            .FirstOrDefault();
        return nearest is not null && distance <= Math.Max(2, written.Length / 3) && distance < nearest.Length ? nearest : null;
    }

    /// <summary>Returns <c>; did you mean "x"?</c>, or an empty text if no name is near.</summary>
    public static string Hint(string written, IEnumerable<string> names) =>
        Find(written, names) is { } nearest ? $"; did you mean \"{nearest}\"?" : "";

    // Levenshtein distance, one row at a time.
    private static int Distance(string left, string right)
    {
        var row = Enumerable.Range(0, right.Length + 1).ToArray();
        for (var i = 1; i <= left.Length; i++)
        {
            var diagonal = row[0];
            row[0] = i;
            for (var j = 1; j <= right.Length; j++)
            {
                var substitution = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.Min(substitution, Math.Min(row[j], row[j - 1]) + 1);
            }
        }

        return row[^1];
    }
}
