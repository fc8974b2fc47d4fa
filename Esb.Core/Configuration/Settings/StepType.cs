using System.Text.Json.Nodes;
using Esb.Core.Processes;

namespace Esb.Core.Configuration.Settings;

/// <summary>A step: an object with one key, the step's name, beside an optional <c>id</c> and <c>note</c>.</summary>
internal sealed class StepType : SettingType
{
    private static readonly string[] Beside = ["id", "note"];

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind != ConfigKind.Object)
        {
            reader.Refuse("ESB-CFG-TYPE", node, $"expected a step, an object with one key, got {reader.Name(node.Kind)}");
            return null;
        }

        var keys = node.Members.Where(member => !Beside.Contains(member.Name)).ToList();
        if (keys is not [var key])
        {
            reader.Errors.Add("ESB-CFG-STEP", node.Path, $"a step has one key, its name; found {(keys.Count == 0 ? "none" : string.Join(", ", keys.Select(found => found.Name)))}", node.Origin);
            return null;
        }

        var kinds = reader.Catalog.KindsOf(typeof(StepConfig));
        if (kinds.FirstOrDefault(candidate => candidate.Kind == key.Name) is not { } kind)
        {
            reader.Errors.Add("ESB-CFG-UNKNOWN", key.Value.Path, $"unknown step{NearestName.Hint(key.Name, kinds.Select(known => known.Kind))}", key.Origin);
            return null;
        }

        if (kind.Settings is null)
        {
            reader.Errors.Add("ESB-CFG-UNAVAILABLE", key.Value.Path, $"the step {kind.Kind} is designed, but this version cannot do it yet", key.Origin);
            return null;
        }

        var settings = SettingTypes.For(kind.Settings, new SettingAttribute("")).Read(key.Value, reader);
        return settings is null ? null : new StepConfig
        {
            Kind = kind.Kind,
            Settings = settings,
            Path = key.Value.Path,
            Origin = key.Origin,
            Id = ReadText(node, "id", reader),
            Note = ReadText(node, "note", reader),
        };
    }

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) =>
        catalog.KindsOf(typeof(StepConfig)).FirstOrDefault(kind => Means(part, kind.Kind) && node[kind.Kind] is not null) is { Settings: { } settings } found
            ? (found.Kind, SettingTypes.For(settings, new SettingAttribute("")))
            : null;

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => node.Members.Select(member => member.Name);

    public override JsonObject Describe(SchemaWriter schema) => schema.Define(typeof(StepConfig), () => new JsonObject
    {
        ["oneOf"] = new JsonArray([.. schema.Catalog.KindsOf(typeof(StepConfig)).Where(kind => kind.Settings is not null).Select(kind => DescribeKind(schema, kind))]),
    });

    private static JsonObject DescribeKind(SchemaWriter schema, SettingsKind kind) => new()
    {
        ["type"] = "object",
        ["properties"] = new JsonObject
        {
            [kind.Kind] = schema.Annotate(SettingTypes.For(kind.Settings!, new SettingAttribute("")).Describe(schema), kind.Description),
            ["id"] = new JsonObject { ["type"] = "string", ["description"] = "Names the step in history, telemetry and environment variables." },
            ["note"] = new JsonObject { ["type"] = "string", ["description"] = "For people." },
        },
        ["required"] = new JsonArray(kind.Kind),
        ["additionalProperties"] = false,
    };

    private static string? ReadText(ConfigNode node, string name, SettingsReader reader)
    {
        if (node[name] is not { } text) return null;
        if (text.Kind == ConfigKind.Text) return text.Text;
        reader.Refuse("ESB-CFG-TYPE", text, $"expected text, got {reader.Name(text.Kind)}");
        return null;
    }
}
