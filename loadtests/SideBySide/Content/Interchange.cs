using System.Globalization;
using System.Text;

namespace SideBySide.Content;

/// <summary>A flat file of records of 150 bytes with their numbers, line end included.</summary>
internal static class Interchange
{
    /// <summary>Bytes of a record.</summary>
    public const int RecordBytes = 150;

    /// <summary>Writes a file.</summary>
    /// <param name="path">Where.</param>
    /// <param name="first">The number of the first record.</param>
    /// <param name="records">How many.</param>
    /// <param name="cancellationToken">Stops writing.</param>
    public static async Task WriteAsync(string path, long first, int records, CancellationToken cancellationToken)
    {
        await using var writer = new StreamWriter(path, append: false, Encoding.ASCII, bufferSize: 1 << 20) { NewLine = "\r\n" };
        for (var number = first; number < first + records; number++)
            await writer.WriteLineAsync(
                string.Create(CultureInfo.InvariantCulture, $"R{number:000000000}{$"record {number} of an interchange", -138}").AsMemory(),
                cancellationToken
            );
    }
}
