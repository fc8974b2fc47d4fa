using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Content.Schemas.Json;
using Esb.Content.Transforms;
using Esb.Content.Xml;
using Esb.Core.Configuration;

namespace Esb.Content.Schemas;

/// <summary>Compiles the section <c>schemas</c>, each schema once, and reports those that cannot be compiled.</summary>
internal sealed class SchemaCompiler(IReadOnlyDictionary<string, SchemaConfig> schemas, ConfigErrors errors, XmlInput xml)
    : ICompiler<SchemaModels>
{
    public SchemaModels Compile()
    {
        var library = OpenLibrary();
        var compiled = new Dictionary<string, SchemaModel>();
        foreach (var (name, config) in schemas)
        {
            var file = new ContentFile(config, config.File, errors);
            if (file.IsUsable(jsonKind: null) && Compile(name, config, errors, library) is { } schema)
                compiled[name] = schema;
        }

        return new SchemaModels(compiled);
    }

    private static bool IsJson(SchemaConfig config) => Path.GetExtension(config.File).Equals(".json", StringComparison.OrdinalIgnoreCase);

    private SchemaLibrary OpenLibrary() =>
        new([
            .. schemas.Values.Where(config => config.IsWhole && IsJson(config)).Select(config => config.File).Distinct().Where(File.Exists),
        ]);

    private SchemaModel? Compile(string name, SchemaConfig config, ConfigErrors found, SchemaLibrary library)
    {
        var file = new ContentFile(config, config.File, found);
        return IsJson(config) ? CompileJson(name, config, file, library) : CompileXml(name, config, file);
    }

    private SchemaModel? Recompile(string name, SchemaConfig config, ConfigErrors found) => Compile(name, config, found, OpenLibrary());

    private SchemaModel? CompileJson(string name, SchemaConfig config, ContentFile file, SchemaLibrary library)
    {
        var made = library.Compile(name, file.Path, config.Formats == FormatMode.Assert);
        foreach (var fault in made.Faults)
            file.Report(fault.Code, fault.Document.Path, fault.Pointer, fault.Problem);
        return made.Schema is null
            ? null
            : new SchemaModel(made.Schema, made.Paths, made.ContentHash, made.Stamp, found => Recompile(name, config, found));
    }

    private SchemaModel? CompileXml(string name, SchemaConfig config, ContentFile file)
    {
        var stamp = ContentStamp.Of([file.Path]);
        if (XsdCompiler.Compile(file) is not { } schema)
            return null;
        var paths = XsdCompiler.PathsOf(schema);
        if (paths.Count > 1)
            stamp = ContentStamp.Of(paths);
        return new SchemaModel(
            new XsdSchema(name, schema, xml),
            paths,
            XsdCompiler.HashOf(schema),
            stamp,
            found => Recompile(name, config, found)
        );
    }
}
