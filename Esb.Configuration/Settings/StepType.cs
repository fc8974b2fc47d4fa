using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Configuration.Settings;

/// <summary>A step: an object with one key, the step's name, beside an optional <c>id</c> and <c>note</c>.</summary>
internal sealed class StepType : SettingType
{
    private const string Id = "id";
    private const string Note = "note";

    public override VariableForm Form => VariableForm.Json;

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.IsUnresolved)
            return null;
        if (node.Kind != ConfigKind.Object)
        {
            reader.Errors.Add("ESB-CFG-TYPE", node, $"expected a step, an object with one key, got {SettingsReader.Name(node.Kind)}");
            return null;
        }

        if (FindKey(node, reader) is not var (key, kind))
            return null;
        if (kind.Settings is null)
        {
            reader.RefuseUnavailable(key, $"the step {kind.Kind} ");
            return null;
        }

        var settings = TypeOf(kind).Read(key.Value, reader);
        return settings is null
            ? null
            : new StepConfig
            {
                Kind = kind.Kind,
                Settings = settings,
                Path = key.Value.Path,
                Origin = key.Origin,
                Id = ReadId(node, reader),
                Note = ReadText(node[Note], reader),
            };
    }

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) =>
        KindsOf(catalog).FirstOrDefault(kind => Means(part, kind.Kind) && node[kind.Kind] is not null) is { Settings: not null } found
            ? (found.Kind, TypeOf(found))
            : null;

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) =>
        node.Members.Select(member => member.Name).Except([Id, Note]);

    public override JsonObject Describe(SchemaWriter schema) =>
        schema.Define(
            typeof(StepConfig),
            () =>
            {
                var available = KindsOf(schema.Catalog).Where(kind => kind.Settings is not null).ToList();
                var properties = new JsonObject();
                foreach (var kind in available)
                    properties[kind.Kind] = SchemaWriter.Annotate(TypeOf(kind).Describe(schema), kind.Description);
                properties[Id] = Describe("Names the step in history, telemetry and environment variables.", ThingName.Pattern);
                properties[Note] = Describe("For people.", pattern: null);
                return new JsonObject
                {
                    ["type"] = "object",
                    ["properties"] = properties,
                    ["additionalProperties"] = false,
                    ["allOf"] = new JsonArray(SchemaWriter.Choose(available.Select(kind => kind.Kind), isRequired: true)),
                };
            }
        );

    private static JsonObject Describe(string description, string? pattern)
    {
        var text = new JsonObject { ["type"] = "string", ["description"] = description };
        if (pattern is not null)
            text["pattern"] = pattern;
        return text;
    }

    private static IReadOnlyList<SettingsKind> KindsOf(SettingsCatalog catalog) => catalog.KindsOf(typeof(StepConfig));

    private static SettingType TypeOf(SettingsKind kind) => SettingTypes.For(kind.Settings!, new SettingAttribute(kind.Description));

    /// <summary>Returns the one key that names the step; null after an error was reported.</summary>
    private static (ConfigMember Key, SettingsKind Kind)? FindKey(ConfigNode node, SettingsReader reader)
    {
        var kinds = KindsOf(reader.Catalog);
        var members = node.Members.Where(member => member.Name is not (Id or Note)).ToList();
        var known = members.Where(member => kinds.Any(kind => kind.Kind == member.Name)).ToList();
        foreach (var unknown in members.Except(known))
        {
            if (known.Count == 0)
                reader.RefuseUnknown(
                    unknown,
                    kinds.Select(kind => kind.Kind),
                    "unknown step",
                    offered: kinds.Where(kind => kind.Settings is not null).Select(kind => kind.Kind)
                );
            else
                reader.RefuseUnknown(unknown, [Id, Note]);
        }

        if (known is [var key])
            return (key, kinds.First(kind => kind.Kind == key.Name));
        if (members.Count > 0 && known.Count == 0)
            return null;
        var found = known.Count == 0 ? "none" : string.Join(" and ", known.Select(member => member.Name));
        reader.Errors.Add("ESB-CFG-STEP", node.Path, $"a step has one key, its name; found {found}", node.Origin);
        return null;
    }

    private static string? ReadId(ConfigNode node, SettingsReader reader)
    {
        var id = ReadText(node[Id], reader);
        if (id is not null && !ThingName.IsValid(id))
            reader.Errors.Add("ESB-CFG-NAME", node[Id]!, ThingName.Expected);
        return id;
    }

    private static string? ReadText(ConfigNode? node, SettingsReader reader) =>
        node is null ? null : (string?)new TextType(new SettingAttribute("")).Parse(node, reader);
}
