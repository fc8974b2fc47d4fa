using System.Xml;

namespace Esb.Content.Xml;

/// <summary>Finds the parts of a schema or stylesheet: relative names of files inside one folder, and nothing else.</summary>
internal sealed class FolderResolver(string folder) : XmlResolver
{
    private readonly string _root = Path.GetFullPath(folder) + Path.DirectorySeparatorChar;
    private readonly List<string> _refused = [];

    /// <summary>The references that were refused, as they are written: libraries hide what a resolver throws.</summary>
    public IReadOnlyList<string> Refused => _refused;

    public override Uri ResolveUri(Uri? baseUri, string? relativeUri)
    {
        var reference = relativeUri ?? "";
        if (baseUri is null && Uri.TryCreate(reference, UriKind.Absolute, out var known) && IsInside(known))
            return known; // the file that we opened ourselves
        if (!Uri.TryCreate(reference, UriKind.Relative, out _) || reference.StartsWith('/') || reference.StartsWith('\\'))
            throw Refuse(reference);
        // "file:x" counts as a relative reference and cannot be resolved all the same.
        return Uri.TryCreate(baseUri ?? new Uri(_root), reference, out var uri) && IsInside(uri) ? uri : throw Refuse(reference);
    }

    public override object GetEntity(Uri absoluteUri, string? role, Type? ofObjectToReturn) =>
        IsInside(absoluteUri) ? File.OpenRead(absoluteUri.LocalPath) : throw Refuse(absoluteUri.OriginalString);

    private bool IsInside(Uri uri) =>
        uri.IsFile && !uri.IsUnc && Path.GetFullPath(uri.LocalPath).StartsWith(_root, StringComparison.Ordinal);

    private XmlException Refuse(string reference)
    {
        _refused.Add(reference);
        return new XmlException($"'{reference}' is not allowed: only relative names of files inside the folder are.");
    }
}
