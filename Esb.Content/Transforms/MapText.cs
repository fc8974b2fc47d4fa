using System.Security.Cryptography;
using System.Text;
using Esb.Content.Xml;

namespace Esb.Content.Transforms;

/// <summary>A map that is one text file in UTF-8. Immutable.</summary>
internal sealed class MapText : IMapSource
{
    private MapText(string path, string stamp, byte[] bytes)
    {
        Paths = [path];
        Stamp = stamp;
        ContentHash = Convert.ToHexStringLower(
            SHA256.HashData([.. Encoding.UTF8.GetBytes($"{System.IO.Path.GetFileName(path)}\n"), .. bytes])
        );
        Text = Decode(path, bytes);
    }

    public string Path => Paths[0];

    public string Text { get; }

    public string ContentHash { get; }

    public IReadOnlyList<string> Paths { get; }

    public string Stamp { get; }

    public IReadOnlyList<MapParameter> Parameters => [];

    /// <exception cref="MapFileException"><c>ESB-CFG-MAP</c>: it is not UTF-8.</exception>
    public static MapText Read(string path)
    {
        var stamp = ContentStamp.Of([path]);
        return new MapText(path, stamp, File.ReadAllBytes(path));
    }

    private static string Decode(string path, byte[] bytes)
    {
        try
        {
            return new UTF8Encoding(false, throwOnInvalidBytes: true).GetString(
                bytes.AsSpan().StartsWith(Encoding.UTF8.Preamble) ? bytes.AsSpan(3) : bytes
            );
        }
        catch (DecoderFallbackException ex)
        {
            var line = bytes.AsSpan(0, ex.Index).Count((byte)'\n') + 1;
            throw new MapFileException("ESB-CFG-MAP", "the file is not UTF-8", new Uri(path).AbsoluteUri, line, 1);
        }
    }
}
