using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Content.Schemas;
using Esb.Content.Xml;
using Esb.Core.Configuration;

namespace Esb.Content.Schemas;

/// <summary>Compiles the section <c>schemas</c>, each schema once, and reports those that cannot be compiled.</summary>
internal sealed class SchemaCompiler(IReadOnlyDictionary<string, SchemaConfig> schemas, ConfigErrors errors, XmlInput xml) : ICompiler<ISchemaCatalog>
{
    public ISchemaCatalog Compile()
    {
        var (compiled, hashes) = (new Dictionary<string, IMessageSchema>(), new List<string>());
        foreach (var (name, config) in schemas)
        {
            var file = new ContentFile(config, config.File, errors);
            if (!file.IsUsable("JSON Schemas") || XsdCompiler.Compile(file) is not { } schema) continue;
            compiled[name] = new XsdSchema(name, schema, xml);
            hashes.Add($"{name} {XsdCompiler.HashOf(schema)}");
        }

        return new SchemaCatalog(compiled, Fingerprint.Of(hashes.Order(StringComparer.Ordinal)));
    }

    private sealed class SchemaCatalog(IReadOnlyDictionary<string, IMessageSchema> schemas, string contentHash) : ISchemaCatalog, IFileContents
    {
        public string ContentHash => contentHash;

        public IMessageSchema? Find(string name) => schemas.GetValueOrDefault(name);
    }
}
