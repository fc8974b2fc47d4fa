using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Esb.Core.Configuration.Settings;

/// <summary>An object with known properties: a settings record.</summary>
internal sealed class RecordType(Type type) : SettingType
{
    private static readonly ConcurrentDictionary<Type, IReadOnlyList<SettingProperty>> Known = new();

    public Type Type => type;

    private IReadOnlyList<SettingProperty> Properties => Known.GetOrAdd(type, SettingProperty.Of);

    private SettingProperty? Main => Properties.FirstOrDefault(property => property.Setting.Main);

    public override object? Read(ConfigNode node, SettingsReader reader) => Read(node, reader, beside: null);

    /// <summary>Reads a record from an object that holds one more property beside the record's own: the one that names its kind.</summary>
    public object? Read(ConfigNode node, SettingsReader reader, string? beside)
    {
        var name = reader.TakeName();
        var whole = Expand(node);
        if (whole.Kind != ConfigKind.Object)
        {
            reader.Refuse("ESB-CFG-TYPE", node, $"expected an object, got {reader.Name(node.Kind)}");
            return null;
        }

        RefuseUnknown(whole, reader, beside);
        RefuseChoices(whole, reader);
        var record = (SettingsRecord)Activator.CreateInstance(type)!;
        Place(record, nameof(SettingsRecord.Path), whole.Path);
        Place(record, nameof(SettingsRecord.Name), name);
        Place(record, nameof(SettingsRecord.Origin), whole.Origin);
        foreach (var property in Properties) property.Read(whole, record, reader);
        return record;
    }

    public override ConfigNode Expand(ConfigNode node) =>
        node.Kind == ConfigKind.Object || Main is not { } main
            ? node
            : new ConfigNode(ConfigKind.Object, node.Path, node.Origin) { Members = [new ConfigMember(main.Name, node, node.Origin)] };

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) =>
        Properties.FirstOrDefault(property => Means(part, property.Name)) is { } property ? (property.Name, property.Type) : null;

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => Properties.Select(property => property.Name);

    public override JsonObject Describe(SchemaWriter schema) => schema.Define(type, () => DescribeBody(schema));

    private JsonObject DescribeBody(SchemaWriter schema)
    {
        var whole = DescribeObject(schema);
        return Main is { } main
            ? new JsonObject { ["anyOf"] = new JsonArray(main.Type.Describe(schema), whole) }
            : whole;
    }

    /// <summary>The long form only, with the property that names the kind beside the record's own.</summary>
    public JsonObject DescribeObject(SchemaWriter schema, string? beside = null, string? kind = null)
    {
        var properties = new JsonObject();
        if (beside is not null) properties[beside] = new JsonObject { ["const"] = kind };
        foreach (var property in Properties.Where(property => !property.Setting.Unavailable)) properties[property.Name] = property.Describe(schema);

        var described = new JsonObject { ["type"] = "object", ["properties"] = properties, ["additionalProperties"] = false };
        var required = Properties.Where(property => property.IsRequired).Select(property => (JsonNode)property.Name).ToArray();
        if (required.Length > 0) described["required"] = new JsonArray(required);
        if (type.GetCustomAttribute<ExactlyOneAttribute>() is { } one)
            described["oneOf"] = new JsonArray([.. one.Names.Select(name => new JsonObject { ["required"] = new JsonArray(name) })]);
        return described;
    }

    private void Place(SettingsRecord record, string property, object? value)
    {
        if (value is not null) type.GetProperty(property)!.SetValue(record, value);
    }

    private void RefuseUnknown(ConfigNode node, SettingsReader reader, string? beside)
    {
        var names = Properties.Where(property => !property.Setting.Unavailable).Select(property => property.Name).ToList();
        if (beside is not null) names.Add(beside);
        foreach (var member in node.Members.Where(member => member.Name != beside))
        {
            var property = Properties.FirstOrDefault(candidate => candidate.Name == member.Name);
            if (property is null)
                reader.Errors.Add("ESB-CFG-UNKNOWN", member.Value.Path, $"unknown{NearestName.Hint(member.Name, names)}", member.Origin);
            else if (property.Setting.Unavailable)
                reader.Errors.Add("ESB-CFG-UNAVAILABLE", member.Value.Path, "is designed, but this version cannot do it yet", member.Origin);
        }
    }

    private void RefuseChoices(ConfigNode node, SettingsReader reader)
    {
        foreach (var choice in type.GetCustomAttributes<ExactlyOneAttribute>())
        {
            var given = choice.Names.Where(name => node[name] is not null).ToList();
            if (given.Count != 1) reader.Errors.Add("ESB-CFG-ONEOF", node.Path, $"expected exactly one of {string.Join(", ", choice.Names)}, found {Found(given)}", node.Origin);
        }

        foreach (var choice in type.GetCustomAttributes<AtMostOneAttribute>())
        {
            var given = choice.Names.Where(name => node[name] is not null).ToList();
            if (given.Count > 1) reader.Errors.Add("ESB-CFG-ONEOF", node.Path, $"expected at most one of {string.Join(", ", choice.Names)}, found {Found(given)}", node.Origin);
        }
    }

    private static string Found(List<string> given) => given.Count == 0 ? "none" : string.Join(" and ", given);
}

/// <summary>One configured property of a settings record.</summary>
internal sealed class SettingProperty(PropertyInfo property, SettingAttribute setting)
{
    public SettingAttribute Setting => setting;

    public string Name { get; } = setting.Name ?? JsonNamingPolicy.CamelCase.ConvertName(property.Name);

    public bool IsRequired { get; } = property.IsDefined(typeof(RequiredMemberAttribute));

    public SettingType Type => field ??= SettingTypes.For(property, setting); // late: records may hold records of their own kind

    public static IReadOnlyList<SettingProperty> Of(Type type) =>
        [.. type.GetProperties()
            .Select(property => (property, setting: property.GetCustomAttribute<SettingAttribute>()))
            .Where(candidate => candidate.setting is not null)
            .Select(candidate => new SettingProperty(candidate.property, candidate.setting!))];

    public void Read(ConfigNode owner, SettingsRecord record, SettingsReader reader)
    {
        var node = owner[Name];
        if (setting.Unavailable) return;
        if (node is null)
        {
            if (IsRequired) reader.Errors.Add("ESB-CFG-REQUIRED", owner.PathOf(Name), $"is required: {setting.Description}", owner.Origin);
            else ReadDefault(owner, record, reader);
            return;
        }

        if (setting.Secret || setting.MayHoldPassword) reader.HideNext(setting);
        if (Type.Read(node, reader) is { } value) property.SetValue(record, value);
        if (node.Kind is not (ConfigKind.Object or ConfigKind.Array)) reader.Trace(node.Path, TextType.Mask(setting, node.Display()), node.Origin);
        else if (Type is JsonType or ListType { } && node.Items.All(item => item.Kind is not ConfigKind.Object)) reader.Trace(node.Path, JsonText(node), node.Origin);
    }

    public JsonObject Describe(SchemaWriter schema)
    {
        var described = schema.Annotate(Type.Describe(schema), setting.Description);
        if (!IsRequired && DefaultText() is { } text) described["default"] = text;
        return described;
    }

    private void ReadDefault(ConfigNode owner, SettingsRecord record, SettingsReader reader)
    {
        if (DefaultOf(property.GetValue(record)) is not { } text) return;
        reader.Trace(owner.PathOf(Name), text.ToJsonString(JsonStyle.Readable), ConfigOrigin.Default);
        if (setting.Reference is { } section && property.GetValue(record) is string name)
            reader.Refer(section, name, new ConfigNode(ConfigKind.Text, owner.PathOf(Name), owner.Origin) { Text = name });
    }

    private JsonNode? DefaultText() => DefaultOf(property.GetValue(SettingsSample.Of(property.ReflectedType!)));

    private static JsonNode? DefaultOf(object? value) => value switch
    {
        null => null,
        string text => text,
        bool flag => flag,
        int or long => Convert.ToInt64(value, System.Globalization.CultureInfo.InvariantCulture),
        TimeSpan duration => Duration.Format(duration),
        ByteSize size => size.ToString(),
        Enum choice => ChoiceType.NameOf(choice.ToString()),
        IReadOnlyList<string> { Count: > 0 } list => new JsonArray([.. list.Select(item => JsonValue.Create(item))]),
        IReadOnlyList<TimeSpan> { Count: > 0 } list => new JsonArray([.. list.Select(item => JsonValue.Create(Duration.Format(item)))]),
        _ => null,
    };

    private static string JsonText(ConfigNode node) => node.ToJson()?.ToJsonString(JsonStyle.Readable) ?? "null";
}

/// <summary>An instance of each settings record, to read defaults from.</summary>
internal static class SettingsSample
{
    private static readonly ConcurrentDictionary<Type, object> Samples = new();

    public static object Of(Type type) => Samples.GetOrAdd(type, static known => Activator.CreateInstance(known)!);
}
