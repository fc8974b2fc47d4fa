using System.Collections.Concurrent;
using System.Reflection;
using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

/// <summary>An object with known properties: a settings record.</summary>
internal sealed class RecordType : SettingType
{
    private static readonly ConcurrentDictionary<Type, RecordType> Known = new();

    private readonly Type _type;
    private readonly IReadOnlyList<SettingProperty> _all;
    private readonly IReadOnlyList<SettingProperty> _available;
    private readonly IReadOnlyList<ChoiceAttribute> _choices;

    private RecordType(Type type)
    {
        _type = type;
        _all = SettingProperty.Of(type);
        _available = [.. _all.Where(property => !property.Setting.Unavailable)];
        _choices = WithoutExtended([.. type.GetCustomAttributes<ChoiceAttribute>()]);
    }

    public override VariableForm Form => Main?.Type.Form ?? VariableForm.Json;

    private SettingProperty? Main => _available.FirstOrDefault(property => property.Setting.Main);

    private IEnumerable<string> AvailableNames => _available.Select(property => property.Name);

    /// <summary>Returns the single type of a settings record: its attributes are inspected once.</summary>
    public static RecordType Of(Type type) => Known.GetOrAdd(type, static type => new RecordType(type));

    public override object? Read(ConfigNode node, SettingsReader reader) => Read(node, reader, beside: null);

    /// <summary>Reads a record from an object with one property beside the record's own: the one that names its kind.</summary>
    public object? Read(ConfigNode node, SettingsReader reader, string? beside)
    {
        var whole = HideSecrets(Expand(node));
        if (whole.Kind != ConfigKind.Object)
        {
            if (!node.IsUnresolved)
                reader.Errors.Add("ESB-CFG-TYPE", node, $"expected an object, got {SettingsReader.Name(node.Kind)}");
            return null;
        }

        var flaws = new SettingFlaws();
        var misspelt = RefuseUnknown(whole, reader, beside);
        foreach (var name in misspelt)
            flaws.Lose(name);
        RefuseChoices(whole, reader, flaws);
        var record = Create() with { Path = whole.Path, Origin = whole.Origin, Written = whole };
        foreach (var property in _available)
        {
            if (!misspelt.Contains(property.Name))
                property.Read(whole, record, reader, flaws);
        }

        if (!flaws.Any)
            return record;
        reader.Lose();
        return Complete(record) is { } complete ? complete with { Flaws = flaws } : null;
    }

    public override SettingsRecord? StandIn() => Complete(Create() with { Flaws = SettingFlaws.Everything });

    /// <summary>Traces the default values of a record that is not written, and sets its path to the place where it would be
    /// written.</summary>
    public SettingsRecord ReadDefaults(SettingsRecord record, string path, SettingsReader reader)
    {
        var placed = record with { Path = path };
        foreach (var property in _available)
            property.ReadDefault(placed, reader);
        return placed;
    }

    public override ConfigNode Expand(ConfigNode node) =>
        node.Kind == ConfigKind.Object || Main is not { } main
            ? node
            : new ConfigNode(ConfigKind.Object, node.Path, node.Origin) { Members = [new ConfigMember(main.Name, node, node.Origin)] };

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) =>
        _all.FirstOrDefault(property => Means(part, property.Name)) is { } property ? (property.Name, property.Type) : null;

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => AvailableNames;

    public override JsonObject Describe(SchemaWriter schema) =>
        schema.Define(
            _type,
            () =>
            {
                var whole = DescribeObject(schema);
                return Main is { } main ? new JsonObject { ["anyOf"] = new JsonArray(DescribeShort(main, schema), whole) } : whole;
            }
        );

    /// <summary>Describes the long form only.</summary>
    public JsonObject DescribeObject(SchemaWriter schema)
    {
        var properties = new JsonObject();
        foreach (var property in _available)
            properties[property.Name] = property.Describe(schema);

        var described = new JsonObject
        {
            ["type"] = "object",
            ["properties"] = properties,
            ["additionalProperties"] = false,
        };
        var required = _available.Where(property => property.IsRequired).Select(property => (JsonNode)property.Name).ToArray();
        if (required.Length > 0)
            described["required"] = new JsonArray(required);
        var choices = _choices.Select(choice => SchemaWriter.Choose(choice.Names.Intersect(AvailableNames), choice.IsRequired)).ToArray();
        if (choices.Length > 0)
            described["allOf"] = new JsonArray(choices);
        return described;
    }

    // An object is always the long form, even where any JSON would be valid as the short form.
    private static JsonObject DescribeShort(SettingProperty main, SchemaWriter schema)
    {
        var described = main.Type.Describe(schema);
        return described.Count > 0
            ? described
            : new JsonObject { ["type"] = new JsonArray("string", "number", "boolean", "array", "null") };
    }

    private ConfigNode HideSecrets(ConfigNode node) =>
        _all.All(property => property.Secrecy == Secrecy.None)
            ? node
            : node with
            {
                Members =
                [
                    .. node.Members.Select(member =>
                        _all.FirstOrDefault(property => property.Name == member.Name) is { } property
                            ? member with
                            {
                                Value = Hide(member.Value, property.Secrecy),
                            }
                            : member
                    ),
                ],
            };

    // A derived record extends a choice of its base by naming all of it and more.
    private static IReadOnlyList<ChoiceAttribute> WithoutExtended(IReadOnlyList<ChoiceAttribute> choices) =>
        [
            .. choices.Where(choice =>
                !choices.Any(other => other.Names.Count > choice.Names.Count && choice.Names.All(other.Names.Contains))
            ),
        ];

    private SettingsRecord Create() => (SettingsRecord)Activator.CreateInstance(_type)!;

    private SettingsRecord? Complete(SettingsRecord record) => _available.All(property => property.StandIn(record)) ? record : null;

    private static ConfigNode Hide(ConfigNode node, Secrecy secrecy) =>
        secrecy == Secrecy.None
            ? node
            : node with
            {
                Secrecy = secrecy,
                Members = [.. node.Members.Select(member => member with { Value = Hide(member.Value, secrecy) })],
                Items = [.. node.Items.Select(item => Hide(item, secrecy))],
            };

    /// <summary>Refuses unknown members; returns the names they probably meant, or a member's own name if no known name is near.</summary>
    private HashSet<string> RefuseUnknown(ConfigNode node, SettingsReader reader, string? beside)
    {
        var misspelt = new HashSet<string>();
        foreach (var member in node.Members.Where(member => member.Name != beside))
        {
            var property = _all.FirstOrDefault(candidate => candidate.Name == member.Name);
            if (property is null)
                misspelt.Add(reader.RefuseUnknown(member, beside is null ? AvailableNames : [beside, .. AvailableNames]) ?? member.Name);
            else if (property.Setting.Unavailable)
                reader.RefuseUnavailable(member);
        }

        misspelt.ExceptWith(node.Members.Select(member => member.Name).Intersect(AvailableNames));
        return misspelt;
    }

    // A missing property may be present but misspelt: one mistake is one error.
    private void RefuseChoices(ConfigNode node, SettingsReader reader, SettingFlaws flaws)
    {
        var isMisspelt = flaws.Any;
        foreach (var choice in _choices)
        {
            var given = choice.Names.Where(name => node[name] is not null).ToList();
            if (given.Count == 1 || (given.Count == 0 && (isMisspelt || !choice.IsRequired)))
                continue;
            foreach (var name in choice.Names)
                flaws.Damage(name);
            var found = given.Count == 0 ? "none" : string.Join(" and ", given);
            var names = string.Join(", ", choice.Names.Intersect(AvailableNames));
            reader.Errors.Add(
                choice.Code,
                node.Path,
                $"expected {(choice.IsRequired ? "exactly" : "at most")} one of {names}, found {found}",
                node.Origin
            );
        }
    }
}
