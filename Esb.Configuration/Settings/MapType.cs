using System.Collections;
using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

/// <summary>An object whose keys are chosen by the user.</summary>
internal sealed class MapType(Type element, SettingAttribute setting) : SettingType
{
    private readonly SettingType _element = SettingTypes.For(element, setting);

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

        var map = StandIn();
        if (setting.NamesThings)
            ThingName.Check(node, reader.Errors);
        foreach (var member in node.Members)
        {
            var value = _element.Read(member.Value, reader);
            if (value is null)
                reader.Lose();
            else
                map[member.Name] = value is SettingsRecord record ? record with { Name = member.Name } : value;
        }

        return map;
    }

    public override IDictionary StandIn() =>
        (IDictionary)Activator.CreateInstance(typeof(Dictionary<,>).MakeGenericType(typeof(string), element))!;

    public override JsonObject Describe(SchemaWriter schema)
    {
        var described = new JsonObject { ["type"] = "object", ["additionalProperties"] = _element.Describe(schema) };
        if (setting.NamesThings)
            described["propertyNames"] = new JsonObject { ["pattern"] = ThingName.Pattern };
        return described;
    }

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) =>
        node.Members.FirstOrDefault(member => Means(part, member.Name)) is { } member ? (member.Name, _element) : null;

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => node.Members.Select(member => member.Name);
}
