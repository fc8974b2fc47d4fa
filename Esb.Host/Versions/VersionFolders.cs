using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Esb.Core.Storage;

namespace Esb.Host.Versions;

/// <summary>The versions of the configuration that this host has run, each in a folder of its own, under <c>configuration</c> in the folder
/// of the host. Thread-safe.</summary>
/// <param name="folder">The folder of the host.</param>
/// <param name="time">The clock.</param>
internal sealed class VersionFolders(string folder, TimeProvider time)
{
    private const int Kept = 12;

    private readonly string _folder = Path.Combine(Path.GetFullPath(folder), "configuration");
    private readonly SemaphoreSlim _writing = new(1, 1);

    private string Last => Path.Combine(_folder, "last.json");

    /// <summary>Writes a content, unless it is there and complete, and returns what is to be read: the only JSON file, or a
    /// folder.</summary>
    /// <exception cref="IOException">The disk is full, or cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder may not be written.</exception>
    public async Task<string> WriteAsync(ConfigurationContent content, CancellationToken cancellationToken)
    {
        var place = Path.Combine(_folder, NameOf(content));
        await _writing.WaitAsync(cancellationToken);
        try
        {
            if (!await IsCompleteAsync(content, place, cancellationToken))
                await ReplaceAsync(content, place, cancellationToken);
            Directory.SetLastWriteTimeUtc(place, time.GetUtcNow().UtcDateTime);
            Prune(place);
        }
        finally
        {
            _writing.Release();
        }

        return ContentFolder.MainOf(content) is { } only ? Path.Combine(place, only) : place;
    }

    /// <summary>Notes the version that runs, for a start without the store.</summary>
    /// <exception cref="IOException">The disk is full, or cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder may not be written.</exception>
    public void Note(long number, string files)
    {
        OwnerFolder.Make(_folder);
        var unfinished = $"{Last}.part";
        OwnerFile.Write(unfinished, JsonSerializer.SerializeToUtf8Bytes(new LastVersion(number, Path.GetRelativePath(_folder, files))));
        File.Move(unfinished, Last, overwrite: true);
    }

    /// <summary>The version that ran last; null if none was noted, or if it is not complete.</summary>
    public (long Number, string Files)? FindLast()
    {
        try
        {
            if (!File.Exists(Last) || JsonSerializer.Deserialize<LastVersion>(File.ReadAllBytes(Last)) is not { } last)
                return null;
            var files = Path.Combine(_folder, last.Files);
            return Path.Exists(files) ? (last.Number, files) : null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException or JsonException)
        {
            return null; // as if none had been noted
        }
    }

    // Files may have been deleted, or the power failed before the files were on the disk.
    private static async Task<bool> IsCompleteAsync(ConfigurationContent content, string place, CancellationToken cancellationToken)
    {
        if (!Directory.Exists(place))
            return false;
        var found = Directory
            .EnumerateFiles(place, "*", SearchOption.AllDirectories)
            .ToDictionary(file => Path.GetRelativePath(place, file).Replace(Path.DirectorySeparatorChar, '/'));
        foreach (var (name, bytes) in BytesOf(content))
        {
            if (!found.Remove(name, out var file))
                return false;
            var written = await File.ReadAllBytesAsync(file, cancellationToken);
            if (!written.SequenceEqual(bytes))
                return false;
        }

        return found.Count == 0;
    }

    private static async Task ReplaceAsync(ConfigurationContent content, string place, CancellationToken cancellationToken)
    {
        var (unfinished, damaged) = ($"{place}.part", $"{place}.old");
        Delete(unfinished);
        Delete(damaged);
        try
        {
            await ContentFolder.WriteAsync(content, unfinished, cancellationToken);
            if (Directory.Exists(place))
                Directory.Move(place, damaged);
            Directory.Move(unfinished, place);
        }
        finally
        {
            Delete(unfinished); // gives the space back
            Delete(damaged);
        }
    }

    private static void Delete(string folder)
    {
        if (Directory.Exists(folder))
            Directory.Delete(folder, recursive: true);
    }

    private static IEnumerable<(string Name, byte[] Bytes)> BytesOf(ConfigurationContent content) =>
        content
            .Files.Select(file => (file.Key, Encoding.UTF8.GetBytes(file.Value)))
            .Concat(content.Contents.Select(one => (one.Key, one.Value)));

    private static string NameOf(ConfigurationContent content)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (var (name, text) in content.Files.OrderBy(file => file.Key, StringComparer.Ordinal))
            Append(hash, name, Encoding.UTF8.GetBytes(text));
        foreach (var (name, bytes) in content.Contents.OrderBy(file => file.Key, StringComparer.Ordinal))
            Append(hash, name, bytes);
        return Convert.ToHexStringLower(hash.GetHashAndReset())[..16];
    }

    private static void Append(IncrementalHash hash, string name, byte[] bytes)
    {
        hash.AppendData(Encoding.UTF8.GetBytes($"{name}\n{bytes.Length}\n"));
        hash.AppendData(bytes);
    }

    // More than can be in service or in work at once.
    private void Prune(string newest)
    {
        foreach (var old in Directory.GetDirectories(_folder).OrderByDescending(Directory.GetLastWriteTimeUtc).Skip(Kept))
        {
            if (old != newest)
                Directory.Delete(old, recursive: true);
        }
    }

    private sealed record LastVersion(long Number, string Files);
}
