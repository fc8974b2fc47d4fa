using System.Collections;
using System.Globalization;
using System.Text.Json.Nodes;

namespace Esb.Core.Configuration.Settings;

internal sealed class ListType(Type element, SettingAttribute setting) : SettingType
{
    private readonly SettingType _element = SettingTypes.For(element, setting);

    public override bool IsWrittenAsJson => true;

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind != ConfigKind.Array)
        {
            reader.Refuse("ESB-CFG-TYPE", node, $"expected a list, got {reader.Name(node.Kind)}");
            return null;
        }

        var list = (IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(element))!;
        foreach (var item in node.Items)
        {
            if (_element.Read(item, reader) is { } value) list.Add(value);
        }

        return list;
    }

    public override JsonObject Describe(SchemaWriter schema) => new() { ["type"] = "array", ["items"] = _element.Describe(schema) };

    /// <summary>An element is found by its position, a step also by its <c>id</c>.</summary>
    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog)
    {
        var index = node.Items.Select((item, position) => (item, position))
            .Where(candidate => candidate.item["id"] is { } id ? Means(part, id.Text) : Means(part, candidate.position.ToString(CultureInfo.InvariantCulture)))
            .Select(candidate => (int?)candidate.position)
            .FirstOrDefault();
        return index is null ? null : (index.Value.ToString(CultureInfo.InvariantCulture), _element);
    }

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) => node.Items.Select((item, index) => item["id"]?.Text ?? $"{index}");
}
