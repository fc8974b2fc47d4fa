using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Configuration;

namespace Esb.Content.Schemas;

/// <summary>Compiles every schema of a configuration once, and reports those that cannot be.</summary>
internal sealed class SchemaCatalog : ISchemaCatalog, IConfigurationCheck
{
    private readonly Dictionary<string, XsdSchema> _schemas = [];
    private readonly ConfigErrors _errors = new();

    public SchemaCatalog(EsbConfiguration configuration, XmlInput xml)
    {
        foreach (var (name, config) in configuration.Named<SchemaConfig>("schemas"))
        {
            var file = new ContentFile(config, config.File, _errors);
            if (file.IsUsable("JSON Schemas") && XsdCompiler.Compile(file) is { } schema) _schemas[name] = new XsdSchema(name, schema, xml);
        }
    }

    public IMessageSchema? Find(string name) => _schemas.GetValueOrDefault(name);

    public void Check(ConfigErrors errors)
    {
        errors.AddAll(_errors);
    }
}
