using System.IO.Compression;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Content.Codecs;

/// <summary>Zip archives. Thread-safe.</summary>
internal static class ZipCodec
{
    /// <summary>The only entry of an archive, folders left out.</summary>
    /// <exception cref="EsbException"><c>ESB-CODEC-ENTRIES</c>: it has none, or several. <c>ESB-CODEC-NAME</c>: the name of an entry leaves
    /// the archive. <c>ESB-CODEC-LIMIT</c>, <c>ESB-CODEC-FORMAT</c>.</exception>
    public static (string Name, byte[] Body) DecodeOnly(ReadOnlyMemory<byte> body, CodecLimits limits)
    {
        using var archive = Open(body, limits);
        var files = FilesOf(archive);
        if (files is not [var only])
            throw new EsbException("ESB-CODEC-ENTRIES", $"The archive has {files.Count} entries; expected one.", FaultKind.Invalid);
        return (only.FullName, Read(only, limits));
    }

    /// <summary>All files of an archive, folders left out.</summary>
    /// <exception cref="EsbException"><c>ESB-CODEC-NAME</c>, <c>ESB-CODEC-LIMIT</c>, <c>ESB-CODEC-FORMAT</c>.</exception>
    public static IReadOnlyList<MessageEntry> DecodeAll(ReadOnlyMemory<byte> body, CodecLimits limits)
    {
        using var archive = Open(body, limits);
        var entries = new List<MessageEntry>();
        var left = limits.MaxBytes;
        foreach (var file in FilesOf(archive))
        {
            var bytes = Read(file, limits with { MaxBytes = left });
            left -= bytes.Length;
            entries.Add(new MessageEntry(file.FullName, ContentType: null, MessageBody.FromBytes(bytes)));
        }

        return entries;
    }

    private static List<ZipArchiveEntry> FilesOf(ZipArchive archive) =>
        archive.Entries.Where(entry => !entry.FullName.EndsWith('/')).ToList();

    private static byte[] Read(ZipArchiveEntry file, CodecLimits limits)
    {
        using var decoded = file.Open();
        var bytes = limits.ReadAll(decoded, file.CompressedLength);
        return Crc32.Of(bytes) == file.Crc32 ? bytes : throw BodyCodec.Malformed(CodecKind.Zip);
    }

    private static ZipArchive Open(ReadOnlyMemory<byte> body, CodecLimits limits)
    {
        var archive = new ZipArchive(new MemoryStream(body.ToArray(), writable: false), ZipArchiveMode.Read);
        if (archive.Entries.Count > limits.MaxEntries)
            throw CodecLimits.Exceeded($"it has more than {limits.MaxEntries} entries");
        if (archive.Entries.FirstOrDefault(entry => !IsInside(entry.FullName)) is not null)
            throw new EsbException(
                "ESB-CODEC-NAME",
                "The archive is refused: the name of an entry leads out of the archive.",
                FaultKind.Invalid
            );
        return archive;
    }

    /// <summary>An archive with one entry.</summary>
    public static byte[] Encode(ReadOnlyMemory<byte> body, string name, DateTimeOffset time)
    {
        using var made = new MemoryStream();
        using (var archive = new ZipArchive(made, ZipArchiveMode.Create, leaveOpen: true))
        {
            var entry = archive.CreateEntry(name, CompressionLevel.Optimal);
            entry.LastWriteTime = time; // not now: a repetition makes the same bytes
            using var target = entry.Open();
            target.Write(body.Span);
        }

        return made.ToArray();
    }

    /// <summary>True if a name is a relative path that stays inside the archive.</summary>
    public static bool IsInside(string name) =>
        name.Length > 0
        && name[0] is not ('/' or '\\')
        && !name.Contains(':')
        && !name.Contains('\0')
        && !name.Split('/', '\\').Contains("..");
}
