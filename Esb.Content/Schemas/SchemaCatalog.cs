using Microsoft.Extensions.Logging;

namespace Esb.Content.Schemas;

/// <summary>The schemas of a running bus, which follow their files.</summary>
internal sealed class SchemaCatalog(SchemaModels schemas, ILogger<LiveSchema> logger) : ISchemaCatalog
{
    private readonly Dictionary<string, LiveSchema> _schemas = schemas.All.ToDictionary(
        schema => schema.Key,
        schema => new LiveSchema(schema.Value, logger)
    );

    public IReadOnlyCollection<LiveSchema> All => _schemas.Values;

    public IMessageSchema? Find(string name) => _schemas.GetValueOrDefault(name);
}
