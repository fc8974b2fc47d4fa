using System.Collections;
using System.Globalization;
using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

internal sealed class ListType(Type element, SettingAttribute setting) : SettingType
{
    private readonly SettingType _element = SettingTypes.For(element, setting);

    public override VariableForm Form => setting.TakesOne ? VariableForm.JsonOrText : VariableForm.Json;

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.IsUnresolved)
            return null;
        if (node.Kind != ConfigKind.Array && setting.TakesOne)
            return ReadOne(node, reader);
        if (node.Kind != ConfigKind.Array)
        {
            reader.Errors.Add("ESB-CFG-TYPE", node, $"expected a list, got {SettingsReader.Name(node.Kind)}");
            return null;
        }

        var list = StandIn();
        foreach (var item in node.Items)
        {
            // Scalar values are shown on the line of their list.
            var value = _element is ScalarType scalar ? scalar.Parse(item, reader) : _element.Read(item, reader);
            if (value is null)
                reader.Lose();
            else
                list.Add(value);
        }

        if (_element is ScalarType)
            reader.Trace(node.Path, node.Show(), node.Origin);
        return list;
    }

    public override IList StandIn() => (IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(element))!;

    public override JsonObject Describe(SchemaWriter schema)
    {
        var described = new JsonObject { ["type"] = "array", ["items"] = _element.Describe(schema) };
        return setting.TakesOne ? SchemaWriter.AnyOf(described, _element.Describe(schema)) : described;
    }

    /// <summary>Finds an element by its <c>id</c>, which a step may have, or by its position.</summary>
    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog)
    {
        var index = node.Items.ToList().FindIndex(item => item["id"] is { } id && Means(part, id.Text));
        if (index < 0 && !int.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out index))
            return null;
        return index < node.Items.Count ? (index.ToString(CultureInfo.InvariantCulture), _element) : null;
    }

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) =>
        node.Items.Select((item, index) => item["id"]?.Text ?? $"{index}");

    private IList? ReadOne(ConfigNode node, SettingsReader reader)
    {
        if (_element.Read(node, reader) is not { } value)
            return null;
        var list = StandIn();
        list.Add(value);
        return list;
    }
}
