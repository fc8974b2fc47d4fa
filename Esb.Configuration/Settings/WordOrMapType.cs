using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

/// <summary>One of a few words, or an object whose keys are chosen by the user.</summary>
internal sealed class WordOrMapType<TWord, TValue>(SettingAttribute setting) : SettingType
    where TWord : struct, Enum
{
    private readonly ChoiceType _word = new(typeof(TWord));
    private readonly MapType _map = new(typeof(TValue), setting);

    public override VariableForm Form => VariableForm.JsonOrText;

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind == ConfigKind.Object)
            return _map.Read(node, reader) is { } map ? new WordOrMap<TWord, TValue>(null, (Dictionary<string, TValue>)map) : null;
        return _word.Read(node, reader) is { } word ? new WordOrMap<TWord, TValue>((TWord)word, new Dictionary<string, TValue>()) : null;
    }

    public override JsonObject Describe(SchemaWriter schema) => SchemaWriter.AnyOf(_map.Describe(schema), _word.Describe(schema));

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog catalog) =>
        node.Kind == ConfigKind.Object ? _map.Find(node, part, catalog) : null;

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog catalog) =>
        node.Kind == ConfigKind.Object ? _map.Keys(node, catalog) : [];
}
