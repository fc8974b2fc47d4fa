using System.Text.Json.Nodes;

namespace Esb.Core.Configuration.Settings;

/// <summary>An object whose properties depend on the kind that one of them names.</summary>
internal sealed class KindsType(Type baseType, KindsAttribute kinds) : SettingType
{
    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind != ConfigKind.Object)
        {
            reader.Refuse("ESB-CFG-TYPE", node, $"expected an object, got {reader.Name(node.Kind)}");
            reader.TakeName();
            return null;
        }

        var known = reader.Catalog.KindsOf(baseType);
        var written = node[kinds.Discriminator];
        var kind = written?.Text ?? kinds.Default;
        if (kind is not null && known.FirstOrDefault(candidate => candidate.Kind == kind) is { } found)
        {
            reader.Trace(node.PathOf(kinds.Discriminator), $"\"{kind}\"", written?.Origin ?? ConfigOrigin.Default);
            if (found.Settings is not null) return new RecordType(found.Settings).Read(node, reader, kinds.Discriminator);
            reader.Errors.Add("ESB-CFG-UNAVAILABLE", node.PathOf(kinds.Discriminator), $"{kind} is designed, but this version cannot do it yet", node.Origin);
        }
        else
        {
            var names = known.Where(candidate => candidate.Settings is not null).Select(candidate => candidate.Kind).ToList();
            var expected = $"expected one of {string.Join(", ", names)}{(kind is null ? "" : NearestName.Hint(kind, names))}";
            reader.Errors.Add(new ConfigError(kind is null ? "ESB-CFG-REQUIRED" : "ESB-CFG-VALUE", node.PathOf(kinds.Discriminator), written?.Display(), expected, node.Origin));
        }

        reader.TakeName();
        return null;
    }

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog)
    {
        if (Means(part, kinds.Discriminator)) return (kinds.Discriminator, new ChoiceText());
        return Current(node, catalog)?.Find(node, part, catalog);
    }

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => [kinds.Discriminator, .. Current(node, catalog)?.Keys(node, catalog) ?? []];

    public override JsonObject Describe(SchemaWriter schema) => schema.Define(baseType, () => new JsonObject
    {
        ["oneOf"] = new JsonArray([.. schema.Catalog.KindsOf(baseType)
            .Where(kind => kind.Settings is not null)
            .Select(kind => schema.Annotate(DescribeKind(schema, kind), kind.Description))]),
    });

    private JsonObject DescribeKind(SchemaWriter schema, SettingsKind kind)
    {
        var described = new RecordType(kind.Settings!).DescribeObject(schema, kinds.Discriminator, kind.Kind);
        if (kind.Kind == kinds.Default) return described;
        described["required"] = new JsonArray([kinds.Discriminator, .. described["required"]?.AsArray().Select(name => name!.DeepClone()) ?? []]);
        return described;
    }

    private RecordType? Current(ConfigNode node, SettingsCatalog catalog) =>
        catalog.KindsOf(baseType).FirstOrDefault(kind => kind.Kind == (node[kinds.Discriminator]?.Text ?? kinds.Default))?.Settings is { } settings
            ? new RecordType(settings)
            : null;

    private sealed class ChoiceText : SettingType
    {
        public override object? Read(ConfigNode node, SettingsReader reader) => node.Text;

        public override JsonObject Describe(SchemaWriter schema) => new() { ["type"] = "string" };
    }
}
