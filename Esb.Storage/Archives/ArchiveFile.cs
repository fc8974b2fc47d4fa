using System.Globalization;
using System.IO.Compression;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Evidence;

namespace Esb.Storage.Archives;

/// <summary>A day of audit facts in a compressed file: self-describing lines of JSON, and a checksum at the end. <c>zcat</c> reads it,
/// too.</summary>
internal static class ArchiveFile
{
    private static readonly byte[] LineEnd = "\n"u8.ToArray();

    public static string NameOf(DateOnly day) => string.Create(CultureInfo.InvariantCulture, $"audit-{day:yyyy-MM-dd}.jsonl.gz");

    /// <summary>Writes a day. The file gets its name only once it is complete and on disk; an existing file of that name is
    /// replaced.</summary>
    /// <param name="path">The path of the file.</param>
    /// <param name="header">The header of the file.</param>
    /// <param name="facts">The facts of the day.</param>
    /// <param name="least">The minimum number of facts, so that no file is replaced by a smaller one.</param>
    /// <param name="cancellationToken">Cancels the operation; then nothing is replaced.</param>
    /// <returns>The number of facts.</returns>
    /// <exception cref="EsbException"><c>ESB-AUD-ARCHIVE</c>: there are fewer facts than <paramref name="least"/>.</exception>
    public static async Task<long> WriteAsync(
        string path,
        ArchiveHeader header,
        IAsyncEnumerable<StoredLink> facts,
        long least,
        CancellationToken cancellationToken
    )
    {
        var unfinished = path + ".part";
        var count = 0L;
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        await using (var file = OwnerFile.Open(unfinished, FileMode.Create))
        {
            await using (var packed = new GZipStream(file, CompressionLevel.Optimal, leaveOpen: true))
            {
                await WriteAsync(JsonSerializer.SerializeToUtf8Bytes(header, StorageJson.Default.ArchiveHeader));
                await foreach (var fact in facts.WithCancellation(cancellationToken))
                {
                    await WriteAsync(ArchiveLine.Write(fact));
                    count++;
                }

                await WriteAsync(
                    JsonSerializer.SerializeToUtf8Bytes(
                        new ArchiveFooter { Facts = count, Sha256 = hash.GetCurrentHash() },
                        StorageJson.Default.ArchiveFooter
                    )
                );

                async Task WriteAsync(byte[] line)
                {
                    foreach (var part in new[] { line, LineEnd })
                    {
                        hash.AppendData(part);
                        await packed.WriteAsync(part, cancellationToken);
                    }
                }
            }

            file.Flush(flushToDisk: true);
        }

        if (count < least)
        {
            File.Delete(unfinished);
            throw new EsbException(
                "ESB-AUD-ARCHIVE",
                $"{least} facts belong into '{path}' and the store has only {count} of them, maybe because audit.retention has "
                    + $"dropped the day meanwhile. Nothing was written.",
                FaultKind.Invalid
            );
        }

        File.Move(unfinished, path, overwrite: true);
        DurableFolder.Flush(Path.GetDirectoryName(path)!);
        return count;
    }

    /// <summary>Reads the header of a file.</summary>
    /// <exception cref="InvalidDataException">It is not an archive, or was written by a later version.</exception>
    public static async Task<ArchiveHeader> ReadHeaderAsync(string path, CancellationToken cancellationToken)
    {
        using var reader = Open(path);
        return ReadHeader(await reader.ReadLineAsync(cancellationToken));
    }

    /// <summary>Reads the facts in the order written; the file is known to be intact only once all have been read.</summary>
    /// <exception cref="InvalidDataException">It is not an archive, is damaged, or was written by a later version.</exception>
    public static async IAsyncEnumerable<StoredLink> ReadAsync(string path, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        using var reader = Open(path);
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        var line = await reader.ReadLineAsync(cancellationToken);
        ReadHeader(line);
        var count = 0L;
        for (
            var next = await reader.ReadLineAsync(cancellationToken);
            next is not null;
            next = await reader.ReadLineAsync(cancellationToken)
        )
        {
            hash.AppendData(Encoding.UTF8.GetBytes(line + "\n"));
            line = next;
            if (reader.Peek() < 0)
                break; // the footer
            count++;
            yield return Parse(line, StorageJson.Default.ArchiveLine).ToLink();
        }

        var footer = Parse(line, StorageJson.Default.ArchiveFooter);
        if (footer.Facts != count || !hash.GetCurrentHash().AsSpan().SequenceEqual(footer.Sha256))
            throw new InvalidDataException($"'{path}' is damaged: its checksum is another.");
    }

    private static StreamReader Open(string path) => new(new GZipStream(File.OpenRead(path), CompressionMode.Decompress), Encoding.UTF8);

    private static ArchiveHeader ReadHeader(string? line)
    {
        var header = Parse(line, StorageJson.Default.ArchiveHeader);
        return header is { Format: ArchiveHeader.KnownFormat, Version: ArchiveHeader.KnownVersion }
            ? header
            : throw new InvalidDataException($"This is not an audit archive of version {ArchiveHeader.KnownVersion}.");
    }

    private static T Parse<T>(string? line, JsonTypeInfo<T> type)
    {
        try
        {
            return JsonSerializer.Deserialize(line ?? "", type) ?? throw new InvalidDataException("A line of the archive is empty.");
        }
        catch (JsonException ex)
        {
            throw new InvalidDataException("A line of the archive cannot be read.", ex);
        }
    }
}
