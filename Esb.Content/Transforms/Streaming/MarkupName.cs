using System.Text;

namespace Esb.Content.Transforms.Streaming;

/// <summary>A name as it is written, encoded once. Immutable.</summary>
internal sealed class MarkupName(string prefix, string name)
{
    public string Prefix => prefix;

    public string Name => name;

    public byte[] Utf8 { get; } = Encoding.UTF8.GetBytes(prefix.Length == 0 ? name : $"{prefix}:{name}");
}
