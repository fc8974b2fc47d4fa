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
        var compiled = new Dictionary<string, IMessageSchema>();
        foreach (var (name, config) in schemas)
        {
            var file = new ContentFile(config, config.File, errors);
            if (file.IsUsable("JSON Schemas") && XsdCompiler.Compile(file) is { } schema) compiled[name] = new XsdSchema(name, schema, xml);
        }

        return new SchemaCatalog(compiled);
    }

    private sealed class SchemaCatalog(IReadOnlyDictionary<string, IMessageSchema> schemas) : ISchemaCatalog
    {
        public IMessageSchema? Find(string name) => schemas.GetValueOrDefault(name);
    }
}
