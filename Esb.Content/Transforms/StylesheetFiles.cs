using System.Security.Cryptography;
using System.Xml;
using System.Xml.Linq;
using Esb.Content.Xml;

namespace Esb.Content.Transforms;

/// <summary>A stylesheet with everything that it includes and imports, read once: what is hashed is what is compiled.</summary>
internal sealed class StylesheetFiles : XmlResolver, IMapSource
{
    public static readonly XNamespace Xsl = "http://www.w3.org/1999/XSL/Transform";

    private readonly Dictionary<Uri, XDocument> _documents = [];
    private readonly List<Uri> _open = [];
    private readonly List<string> _stamps = [];
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly FolderResolver _folder;

    private StylesheetFiles(string folder) => _folder = new FolderResolver(folder);

    public XDocument Main { get; private set; } = null!;

    public IReadOnlyCollection<XDocument> Documents => _documents.Values;

    /// <summary>The media type that <c>xsl:output</c> names; null where it names none.</summary>
    public string? MediaType =>
        Documents
            .SelectMany(document => document.Root!.Elements(Xsl + "output"))
            .Select(output => output.Attribute("media-type")?.Value)
            .FirstOrDefault(type => type is not null);

    /// <summary>Its parameters; if several files declare a parameter, the file that includes or imports the others decides.</summary>
    public IReadOnlyList<MapParameter> Parameters =>
        [
            .. Documents
                .SelectMany(document => document.Root!.Elements(Xsl + "param"))
                .Where(parameter => parameter.Attribute("name")?.Value.Contains(':') == false)
                .Select(parameter => new MapParameter(
                    parameter.Attribute("name")!.Value.Trim(),
                    parameter.Attribute("select") is null && !parameter.Nodes().Any()
                ))
                .DistinctBy(parameter => parameter.Name),
        ];

    /// <summary>Every file that it consists of, the map's own first.</summary>
    public IReadOnlyList<string> Paths => [.. _documents.Keys.Select(file => file.LocalPath)];

    /// <summary>What the files looked like before they were read, as <see cref="ContentStamp.Of"/> of <see cref="Paths"/>: what comes after
    /// that is a change.</summary>
    public string Stamp => string.Join('\n', _stamps);

    /// <summary>Whether white space of the message is dropped, which the engine can do only while it reads.</summary>
    public bool StripsSpace => Documents.Any(document => document.Root!.Elements(Xsl + "strip-space").Any());

    /// <summary>Whether it looks through the document from places in it, so that one expression may take long. Those that call
    /// generate-id() do not count: it is slow where moves are counted.</summary>
    public bool Sweeps =>
        Documents.SelectMany(StylesheetExpressions.Of).Any(expression => expression.Sweeps)
        && !Documents.SelectMany(StylesheetExpressions.Of).Any(expression => expression.Calls("generate-id"));

    /// <summary>The same for stylesheets whose files have the same names and bytes.</summary>
    public string ContentHash { get; private set; } = "";

    /// <exception cref="MapFileException">A file cannot be read, or refers to one that it may not.</exception>
    public static StylesheetFiles Read(string path)
    {
        var files = new StylesheetFiles(Path.GetDirectoryName(path)!);
        files.Main = files.Load(new Uri(path), Path.GetFileName(path));
        files.ContentHash = Convert.ToHexStringLower(files._hash.GetHashAndReset());
        return files;
    }

    public override Uri ResolveUri(Uri? baseUri, string? relativeUri) => _folder.ResolveUri(baseUri, relativeUri);

    public override object GetEntity(Uri absoluteUri, string? role, Type? ofObjectToReturn) => _documents[absoluteUri].CreateReader();

    private XDocument Load(Uri uri, string reference)
    {
        _stamps.Add(ContentStamp.Of([uri.LocalPath]));
        var bytes = File.ReadAllBytes(uri.LocalPath);
        _hash.AppendData(System.Text.Encoding.UTF8.GetBytes($"{reference}\n{bytes.Length}\n"));
        _hash.AppendData(bytes);
        var document = Parse(uri, bytes);
        _documents[uri] = document;
        _open.Add(uri);
        foreach (var part in document.Root!.Elements().Where(element => element.Name == Xsl + "include" || element.Name == Xsl + "import"))
            Follow(part, uri);
        _open.Remove(uri);
        return document;
    }

    private void Follow(XElement part, Uri from)
    {
        var reference = part.Attribute("href")?.Value ?? "";
        var uri = Resolve(part, from, reference);
        if (_open.Contains(uri))
            throw Problem(
                "ESB-XSL-CYCLE",
                part,
                $"{reference} includes itself: {string.Join(" → ", _open.Append(uri).Select(file => Path.GetFileName(file.LocalPath)))}"
            );
        if (_documents.ContainsKey(uri))
            return;
        if (!File.Exists(uri.LocalPath))
            throw Problem("ESB-XSL-RESOLVE", part, $"there is no file {reference}");
        Load(uri, reference);
    }

    private Uri Resolve(XElement part, Uri from, string reference)
    {
        try
        {
            return _folder.ResolveUri(from, reference);
        }
        catch (XmlException)
        {
            throw Problem(
                "ESB-XSL-RESOLVE",
                part,
                $"'{reference}' is not allowed: only relative names of files in the map's folder or below are"
            );
        }
    }

    private static XDocument Parse(Uri uri, byte[] bytes)
    {
        try
        {
            using var reader = XmlReader.Create(new MemoryStream(bytes), ContentFile.ReaderSettings, uri.AbsoluteUri);
            return XDocument.Load(reader, LoadOptions.PreserveWhitespace | LoadOptions.SetBaseUri | LoadOptions.SetLineInfo);
        }
        catch (XmlException ex)
        {
            throw new MapFileException("ESB-XSL-COMPILE", XmlFaults.Cause(ex.Message), uri.AbsoluteUri, ex.LineNumber, ex.LinePosition);
        }
    }

    public static MapFileException Problem(string code, XObject place, string message)
    {
        IXmlLineInfo position = place;
        return new MapFileException(code, message, place.BaseUri, position.LineNumber, position.LinePosition);
    }
}
