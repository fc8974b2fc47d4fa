using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

/// <summary>An object whose properties depend on the kind that one of them names.</summary>
internal sealed class KindsType(Type baseType, KindsAttribute kinds) : SettingType
{
    public override VariableForm Form => VariableForm.Json;

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.IsUnresolved)
            return null;
        if (node.Kind != ConfigKind.Object)
        {
            reader.Errors.Add("ESB-CFG-TYPE", node, $"expected an object, got {SettingsReader.Name(node.Kind)}");
            return null;
        }

        if (FindKind(node, reader.Catalog) is not { } kind)
        {
            RefuseKind(node, reader);
            return null;
        }

        if (kind.Settings is null)
        {
            reader.Errors.Add("ESB-CFG-UNAVAILABLE", node[kinds.Discriminator] ?? node, "is designed, but this version cannot do it yet");
            return null;
        }

        reader.Trace(node.PathOf(kinds.Discriminator), $"\"{kind.Kind}\"", node[kinds.Discriminator]?.Origin ?? ConfigOrigin.Default);
        return RecordType.Of(kind.Settings).Read(node, reader, kinds.Discriminator);
    }

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog)
    {
        if (Means(part, kinds.Discriminator))
            return (kinds.Discriminator, new TextType(new SettingAttribute("")));
        return FindKind(node, catalog)?.Settings is { } settings
            ? RecordType.Of(settings).Find(node, part, catalog)
            : (part, new JsonType()); // the kind is refused when it is read: one mistake is one error
    }

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) =>
        FindKind(node, catalog)?.Settings is { } settings
            ? [kinds.Discriminator, .. RecordType.Of(settings).Keys(node, catalog)]
            : [kinds.Discriminator];

    /// <summary>Returns the members that both kinds have: keys that only the old kind has would be refused as unknown.</summary>
    public override ConfigNode Keep(ConfigNode below, ConfigNode above, SettingsCatalog catalog)
    {
        if (
            above[kinds.Discriminator] is null
            || FindKind(below, catalog) is not { Settings: not null } old
            || FindKind(above, catalog) is not { Settings: not null } now
        )
            return below;
        var gone = RecordType.Of(old.Settings).Keys(below, catalog).Except(RecordType.Of(now.Settings).Keys(above, catalog)).ToHashSet();
        return below with { Members = [.. below.Members.Where(member => !gone.Contains(member.Name))] };
    }

    // Conditions in place of alternatives: an editor completes every kind, and a mistake is reported about the kind that is written.
    public override JsonObject Describe(SchemaWriter schema) =>
        schema.Define(
            baseType,
            () =>
            {
                var available = schema.Catalog.KindsOf(baseType).Where(kind => kind.Settings is not null).ToList();
                var discriminator = new JsonObject
                {
                    ["enum"] = new JsonArray([.. available.Select(kind => (JsonNode)kind.Kind)]),
                    ["enumDescriptions"] = new JsonArray([.. available.Select(kind => (JsonNode)kind.Description)]),
                    ["description"] = "What it is.",
                };
                if (kinds.Default is { } standard)
                    discriminator["default"] = standard;
                var described = new JsonObject
                {
                    ["type"] = "object",
                    ["properties"] = new JsonObject { [kinds.Discriminator] = discriminator },
                };
                if (kinds.Default is null)
                    described["required"] = new JsonArray(kinds.Discriminator);
                described["allOf"] = new JsonArray([
                    .. available.Select(kind => new JsonObject
                    {
                        ["if"] = Condition(kind),
                        ["then"] = SchemaWriter.Annotate(DescribeKind(schema, kind), kind.Description),
                    }),
                ]);
                return described;
            }
        );

    // Of an object without a kind only the default is true.
    private JsonObject Condition(SettingsKind kind)
    {
        var condition = new JsonObject
        {
            ["properties"] = new JsonObject
            {
                [kinds.Discriminator] = new JsonObject { ["const"] = kind.Kind, ["description"] = kind.Description },
            },
        };
        if (kind.Kind != kinds.Default)
            condition["required"] = new JsonArray(kinds.Discriminator);
        return condition;
    }

    private JsonObject DescribeKind(SchemaWriter schema, SettingsKind kind)
    {
        var described = RecordType.Of(kind.Settings!).DescribeObject(schema);
        described["properties"]!
            .AsObject()
            .Insert(0, kinds.Discriminator, new JsonObject { ["const"] = kind.Kind, ["description"] = kind.Description });
        if (kind.Kind == kinds.Default)
            return described;
        described["required"] = new JsonArray([
            kinds.Discriminator,
            .. described["required"]?.AsArray().Select(name => name!.DeepClone()) ?? [],
        ]);
        return described;
    }

    private SettingsKind? FindKind(ConfigNode node, SettingsCatalog catalog)
    {
        var name = node[kinds.Discriminator] is { } written ? written.Text : kinds.Default;
        return catalog.KindsOf(baseType).FirstOrDefault(kind => kind.Kind == name);
    }

    private void RefuseKind(ConfigNode node, SettingsReader reader)
    {
        var names = reader.Catalog.KindsOf(baseType).Where(kind => kind.Settings is not null).Select(kind => kind.Kind).ToList();
        var expected = $"expected one of {string.Join(", ", names)}";
        if (node[kinds.Discriminator] is { } written)
        {
            if (!written.IsUnresolved)
                reader.Errors.Add("ESB-CFG-VALUE", written, expected + NearestName.Hint(written.Text, names));
        }
        else if (node.Members.FirstOrDefault(member => NearestName.Find(member.Name, [kinds.Discriminator]) is not null) is { } misspelt)
        {
            reader.RefuseUnknown(misspelt, [kinds.Discriminator]);
        }
        else
        {
            reader.Errors.Add("ESB-CFG-REQUIRED", node.PathOf(kinds.Discriminator), $"is required: {expected}", node.Origin);
        }
    }
}
