using System.IO.Compression;
using Esb.Core.Errors;

namespace Esb.Content.Codecs;

/// <summary>Zip archives with one entry. Thread-safe.</summary>
internal static class ZipCodec
{
    /// <summary>The only entry of an archive, folders left out.</summary>
    /// <exception cref="EsbException"><c>ESB-CODEC-ENTRIES</c>: it has none, or several. <c>ESB-CODEC-NAME</c>: the name of an entry leaves
    /// the archive. <c>ESB-CODEC-LIMIT</c>, <c>ESB-CODEC-FORMAT</c>.</exception>
    public static (string Name, byte[] Body) DecodeOnly(ReadOnlyMemory<byte> body, CodecLimits limits)
    {
        using var archive = new ZipArchive(new MemoryStream(body.ToArray(), writable: false), ZipArchiveMode.Read);
        if (archive.Entries.Count > limits.MaxEntries) throw CodecLimits.Exceeded($"it has more than {limits.MaxEntries} entries");
        if (archive.Entries.FirstOrDefault(entry => !IsInside(entry.FullName)) is not null)
            throw new EsbException("ESB-CODEC-NAME", "The archive is refused: the name of an entry leads out of the archive.", FaultKind.Invalid);
        var files = archive.Entries.Where(entry => !entry.FullName.EndsWith('/')).ToList();
        if (files is not [var only]) throw new EsbException("ESB-CODEC-ENTRIES", $"The archive has {files.Count} entries; expected one.", FaultKind.Invalid);
        using var decoded = only.Open();
        var bytes = limits.ReadAll(decoded, only.CompressedLength);
        return Crc32.Of(bytes) == only.Crc32 ? (only.FullName, bytes) : throw BodyCodec.Malformed(CodecKind.Zip);
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
        name.Length > 0 && name[0] is not ('/' or '\\') && !name.Contains(':') && !name.Contains('\0') && !name.Split('/', '\\').Contains("..");
}
