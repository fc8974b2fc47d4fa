using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Esb.Storage.Evidence;

/// <summary>The form of anchor files: a line of JSON for each anchor, signed together with the signature before it.</summary>
internal static class AnchorFile
{
    public const string Extension = ".anchors";

    /// <summary>Signs an anchor.</summary>
    /// <param name="anchor">Without a signature.</param>
    /// <param name="previous">The signature of the line before; empty for the first.</param>
    /// <param name="key">The key.</param>
    public static Anchor Sign(Anchor anchor, ReadOnlySpan<byte> previous, byte[] key)
    {
        var line = JsonSerializer.SerializeToUtf8Bytes(anchor with { Mac = null }, StorageJson.Default.Anchor);
        return anchor with { Mac = HMACSHA256.HashData(key, (byte[])[.. previous, .. line]) };
    }

    public static string ToLine(Anchor anchor) => JsonSerializer.Serialize(anchor, StorageJson.Default.Anchor) + "\n";

    /// <summary>The anchors of all files of a folder, and what is wrong with the files.</summary>
    public static (IReadOnlyList<Anchor> Anchors, IReadOnlyList<string> Problems) ReadFolder(string folder, byte[] key)
    {
        var (anchors, problems) = (new List<Anchor>(), new List<string>());
        foreach (var path in Directory.EnumerateFiles(folder, "*" + Extension).Order(StringComparer.Ordinal))
        {
            if (Read(path, key, anchors) is { } problem)
                problems.Add($"{Path.GetFileName(path)}: {problem}");
        }

        return (anchors, problems);
    }

    // The last line may be unfinished after a crash: it was not written then.
    private static string? Read(string path, byte[] key, List<Anchor> anchors)
    {
        var text = File.ReadAllText(path, Encoding.UTF8);
        var complete = text[..(text.LastIndexOf('\n') + 1)];
        byte[] previous = [];
        var number = 0;
        foreach (var line in complete.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            number++;
            if (
                TryParse(line) is not { Mac: { } mac } anchor
                || !CryptographicOperations.FixedTimeEquals(mac, Sign(anchor, previous, key).Mac)
            )
                return $"line {number} is not signed with this key, or was changed";
            anchors.Add(anchor);
            previous = mac;
        }

        return null;
    }

    private static Anchor? TryParse(string line)
    {
        try
        {
            return JsonSerializer.Deserialize(line, StorageJson.Default.Anchor);
        }
        catch (JsonException)
        {
            return null; // as little an anchor as one with a wrong signature
        }
    }
}
