using System.Globalization;

namespace Esb.Core.Configuration;

/// <summary>A number of bytes in its configured form: <c>512B</c>, <c>64KiB</c>, <c>4MiB</c>, <c>1GiB</c>; a whole number and a
/// unit.</summary>
/// <param name="Bytes">At least 0.</param>
public readonly record struct ByteSize(long Bytes)
{
    private static readonly (string Unit, long Bytes)[] Units = [("GiB", 1L << 30), ("MiB", 1L << 20), ("KiB", 1L << 10), ("B", 1)];

    /// <summary>Parses a size; false for anything else, including a negative size.</summary>
    public static bool TryParse(string text, out ByteSize size)
    {
        size = default;
        foreach (var (unit, bytes) in Units)
        {
            if (!text.EndsWith(unit, StringComparison.Ordinal))
                continue;
            if (!long.TryParse(text.AsSpan(0, text.Length - unit.Length), NumberStyles.None, CultureInfo.InvariantCulture, out var number))
                return false;
            if (number > long.MaxValue / bytes)
                return false;
            size = new ByteSize(number * bytes);
            return true;
        }

        return false;
    }

    /// <summary>A size in binary megabytes.</summary>
    public static ByteSize MiB(long count) => new(count << 20);

    /// <summary>A size in binary kilobytes.</summary>
    public static ByteSize KiB(long count) => new(count << 10);

    /// <summary>The size in its largest whole unit.</summary>
    public override string ToString()
    {
        var bytes = Bytes;
        var (unit, size) = bytes == 0 ? Units[^1] : Units.First(candidate => bytes % candidate.Bytes == 0);
        return string.Create(CultureInfo.InvariantCulture, $"{bytes / size}{unit}");
    }
}
