using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Esb.Configuration.Compiling;
using Esb.Content.Transforms;

namespace Esb.Content.Schemas.Json;

/// <summary>The files with JSON Schemas of a configuration, as they are now: each is read once. Used by one thread.</summary>
/// <param name="files">The files that the section <c>schemas</c> names. What stands in their folders can be referred to.</param>
internal sealed class SchemaLibrary(IReadOnlyCollection<string> files)
{
    private const int MaxDepth = 128;

    private static readonly JsonDocumentOptions Options = new() { MaxDepth = MaxDepth, AllowDuplicateProperties = false };

    private readonly Dictionary<string, SchemaText> _texts = [];
    private readonly HashSet<string> _folders = [.. files.Select(file => Path.GetDirectoryName(file)! + Path.DirectorySeparatorChar)];

    /// <summary>A compiled schema, or what is wrong with it.</summary>
    /// <param name="name">Its name in the configuration.</param>
    /// <param name="path">Its file.</param>
    /// <param name="assertsFormats">Whether <c>format</c> is checked.</param>
    public LibrarySchema Compile(string name, string path, bool assertsFormats)
    {
        try
        {
            // Each schema has its view of the documents, so that a faulty one concerns only those that refer to it.
            var documents = new SchemaDocuments(Load);
            var root = documents.Add(Open(path));
            MetaSchemas.AddTo(documents);
            foreach (var file in files.Where(file => file != path))
                AddOther(documents, file);
            var builder = new SchemaBuilder(documents, assertsFormats);
            var faults = CheckOwnMetaSchema(documents, root);
            var node = builder.Build(root);
            faults = [.. faults, .. builder.Faults];
            var schema = faults.Count == 0 ? new JsonMessageSchema(name, node) : null;
            return Result(schema, faults, builder.Paths);
        }
        catch (SchemaException ex)
        {
            return Result(null, ex.Faults, [path]);
        }
    }

    private LibrarySchema Result(JsonMessageSchema? schema, IReadOnlyList<SchemaFault> faults, IEnumerable<string> paths)
    {
        var texts = paths.Select(path => (Path: path, Text: _texts[path])).ToList();
        return new LibrarySchema(
            schema,
            faults,
            [.. texts.Select(text => text.Path)],
            Fingerprint.Of(texts.Select(text => $"{Path.GetFileName(text.Path)} {text.Text.Hash}").Order(StringComparer.Ordinal)),
            string.Join('\n', texts.Select(text => text.Text.Stamp))
        );
    }

    // One that cannot be read is an error of its own entry.
    private void AddOther(SchemaDocuments documents, string path)
    {
        if (Read(path).Faults.Count == 0)
            documents.Add(Read(path).NewDocument());
    }

    private SchemaDocument? Load(Uri uri)
    {
        var path = Path.GetFullPath(uri.LocalPath);
        return !uri.IsUnc && _folders.Any(folder => path.StartsWith(folder, StringComparison.Ordinal)) && File.Exists(path)
            ? Open(path)
            : null;
    }

    private SchemaDocument Open(string path)
    {
        var text = Read(path);
        return text.Faults.Count > 0 ? throw new SchemaException(text.Faults) : text.NewDocument();
    }

    private SchemaText Read(string path)
    {
        if (_texts.TryGetValue(path, out var known))
            return known;
        var stamp = ContentStamp.Of([path]);
        var document = new SchemaDocument(new Uri(path), path, default);
        try
        {
            var bytes = File.ReadAllBytes(path);
            var root = JsonDocument.Parse(bytes.AsMemory(bytes.AsSpan().StartsWith(Encoding.UTF8.Preamble) ? 3 : 0), Options).RootElement;
            document = document with { Root = root };
            return _texts[path] = new SchemaText(
                document,
                SchemaCheck.Of(document, root, ""),
                Convert.ToHexStringLower(SHA256.HashData(bytes)),
                stamp
            );
        }
        catch (JsonException ex)
        {
            var problem = ex.Message.Split(" LineNumber:")[0].TrimEnd('.');
            return Unreadable(ex.LineNumber is { } line ? $"line {line + 1}, byte {ex.BytePositionInLine + 1}: {problem}" : problem);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return Unreadable($"cannot be read: {ex.Message}");
        }

        SchemaText Unreadable(string problem) =>
            _texts[path] = new SchemaText(document, [new SchemaFault(SchemaFault.Compile, document, "", problem)], "", stamp);
    }

    private static IReadOnlyList<SchemaFault> CheckOwnMetaSchema(SchemaDocuments documents, SchemaSite root)
    {
        if (documents.MetaSchemaOf(root.Resource) is not { } site)
            return [];
        var builder = new SchemaBuilder(documents, assertsFormats: false);
        var metaSchema = builder.Build(site);
        return builder.Faults.Count > 0 ? builder.Faults : SchemaCheck.Of(root.Resource.Document, root.Element, "", metaSchema);
    }

    private sealed record SchemaText(SchemaDocument Document, IReadOnlyList<SchemaFault> Faults, string Hash, string Stamp)
    {
        public SchemaDocument NewDocument() => new(Document.Uri, Document.Path, Document.Root);
    }
}

/// <summary>A schema that was compiled from files.</summary>
/// <param name="Schema">The compiled schema; null after faults.</param>
/// <param name="Faults">What is wrong with it.</param>
/// <param name="Paths">Every file that it consists of.</param>
/// <param name="ContentHash">The same for files of the same names and bytes.</param>
/// <param name="Stamp">What the files looked like before they were read.</param>
internal sealed record LibrarySchema(
    JsonMessageSchema? Schema,
    IReadOnlyList<SchemaFault> Faults,
    IReadOnlyList<string> Paths,
    string ContentHash,
    string Stamp
);
