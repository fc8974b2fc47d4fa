using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;

namespace Esb.Host.WebConsole;

/// <summary>The files of the console, which are part of the program: read and compressed once.</summary>
internal static class ConsoleFiles
{
    public const string Index = "index.html";

    private const string Prefix = "console/";

    private static readonly Dictionary<string, string> Types = new()
    {
        [".html"] = "text/html; charset=utf-8",
        [".css"] = "text/css; charset=utf-8",
        [".mjs"] = "text/javascript; charset=utf-8",
        [".js"] = "text/javascript; charset=utf-8",
        [".svg"] = "image/svg+xml; charset=utf-8",
        [".txt"] = "text/plain; charset=utf-8",
    };

    private static readonly Lazy<IReadOnlyDictionary<string, ConsoleFile>> Files = new(ReadAll);

    /// <summary>The files by their paths, such as <c>pages/overview.mjs</c>.</summary>
    public static IReadOnlyDictionary<string, ConsoleFile> All => Files.Value;

    /// <summary>Reads a file as it is in the source.</summary>
    public static byte[] ReadSource(string path)
    {
        using var stream = typeof(ConsoleFiles).Assembly.GetManifestResourceStream(Prefix + path) ?? throw new FileNotFoundException(path);
        using var copy = new MemoryStream();
        stream.CopyTo(copy);
        return copy.ToArray();
    }

    private static Dictionary<string, ConsoleFile> ReadAll() =>
        typeof(ConsoleFiles)
            .Assembly.GetManifestResourceNames()
            .Where(name => name.StartsWith(Prefix, StringComparison.Ordinal) && Types.ContainsKey(Path.GetExtension(name)))
            .Select(name => name[Prefix.Length..])
            .ToDictionary(path => path, path => Of(Path.GetExtension(path), Adapt(path, ReadSource(path))));

    // The version tells a page of before an update that the host is newer. An import map would need an inline script, which the content
    // security policy forbids.
    private static byte[] Adapt(string path, byte[] source) =>
        path switch
        {
            Index => Encoding.UTF8.GetBytes(
                Encoding.UTF8.GetString(source).Replace("{{version}}", HostVersion.Text, StringComparison.Ordinal)
            ),
            "vendor/hooks.mjs" => Encoding.UTF8.GetBytes(
                Encoding.UTF8.GetString(source).Replace("from\"preact\"", "from\"./preact.mjs\"", StringComparison.Ordinal)
            ),
            _ => source,
        };

    private static ConsoleFile Of(string extension, byte[] bytes)
    {
        using var compressed = new MemoryStream();
        using (var gzip = new GZipStream(compressed, CompressionLevel.SmallestSize))
            gzip.Write(bytes);
        return new ConsoleFile(
            Types[extension],
            bytes,
            compressed.ToArray(),
            $"\"{Convert.ToHexStringLower(SHA256.HashData(bytes).AsSpan(0, 12))}\""
        );
    }
}
