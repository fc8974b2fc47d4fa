using System.Collections;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;

namespace Esb.Core.Configuration.Settings;

/// <summary>An object whose keys are chosen by people.</summary>
internal sealed partial class MapType(Type element, SettingAttribute setting) : SettingType
{
    private readonly SettingType _element = SettingTypes.For(element, setting);

    public override bool IsWrittenAsJson => true;

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind != ConfigKind.Object)
        {
            reader.Refuse("ESB-CFG-TYPE", node, $"expected an object, got {reader.Name(node.Kind)}");
            return null;
        }

        var map = (IDictionary)Activator.CreateInstance(typeof(Dictionary<,>).MakeGenericType(typeof(string), element))!;
        if (setting.NamesThings) CheckNames(node, reader);
        foreach (var member in node.Members)
        {
            if (_element is RecordType or KindsType) reader.NameNext(member.Name);
            if (_element.Read(member.Value, reader) is { } value) map[member.Name] = value;
        }

        return map;
    }

    public override JsonObject Describe(SchemaWriter schema)
    {
        var described = new JsonObject { ["type"] = "object", ["additionalProperties"] = _element.Describe(schema) };
        if (setting.NamesThings) described["propertyNames"] = new JsonObject { ["pattern"] = NamePattern };
        return described;
    }

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) =>
        node.Members.FirstOrDefault(member => Means(part, member.Name)) is { } member ? (member.Name, _element) : null;

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => node.Members.Select(member => member.Name);

    private static void CheckNames(ConfigNode node, SettingsReader reader)
    {
        foreach (var member in node.Members.Where(member => !Name().IsMatch(member.Name)))
        {
            reader.Errors.Add("ESB-CFG-NAME", node.Path, $"the name '{Clip(member.Name)}' is not allowed; expected 1 to 128 letters, digits, - and _, beginning with a letter or digit", member.Origin);
        }

        foreach (var twins in node.Members.GroupBy(member => member.Name.Replace('_', '-'), StringComparer.OrdinalIgnoreCase).Where(group => group.Count() > 1))
        {
            var places = string.Join(" and ", twins.Select(twin => $"{twin.Name} at {twin.Origin}"));
            reader.Errors.Add("ESB-CFG-DUPNAME", twins.First().Value.Path, $"names must differ in more than case: {places}", twins.Last().Origin);
        }
    }

    private static string Clip(string name) => name.Length <= 40 ? name : name[..40] + "…";

    private const string NamePattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$";

    [GeneratedRegex(NamePattern)]
    private static partial Regex Name();
}
