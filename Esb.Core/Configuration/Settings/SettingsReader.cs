namespace Esb.Core.Configuration.Settings;

/// <summary>One reading of a configuration: collects errors, references to be checked at the end, and where each value came from.</summary>
internal sealed class SettingsReader(SettingsCatalog catalog, ConfigErrors errors)
{
    private readonly List<(string Section, string Name, ConfigNode Node)> _references = [];
    private readonly List<TracedValue> _values = [];
    private string _name = "";
    private SettingAttribute? _hidden;

    public SettingsCatalog Catalog => catalog;

    public ConfigErrors Errors => errors;

    public IReadOnlyList<TracedValue> Values => _values;

    /// <summary>Reports an error about a value, which is masked where it may be a secret.</summary>
    public void Refuse(string code, ConfigNode node, string expected)
    {
        var shown = _hidden is null ? node.Display() : TextType.Mask(_hidden, node.Display());
        errors.Add(new ConfigError(code, node.Path, shown, expected, node.Origin));
    }

    public void Refer(string section, string name, ConfigNode node) => _references.Add((section, name, node));

    public void Trace(string path, string shown, ConfigOrigin origin)
    {
        _hidden = null;
        _values.Add(new TracedValue(path, shown, origin));
    }

    public void HideNext(SettingAttribute setting) => _hidden = setting;

    /// <summary>Gives the record that is read next the name under which it stands.</summary>
    public void NameNext(string name) => _name = name;

    public string TakeName()
    {
        var name = _name;
        _name = "";
        return name;
    }

    public void CheckReferences(ConfigNode root)
    {
        foreach (var (section, name, node) in _references)
        {
            var names = root[section]?.Members.Select(member => member.Name).ToList() ?? [];
            if (!names.Contains(name)) errors.Add("ESB-CFG-REF", node, $"no such name in {section}{NearestName.Hint(name, names)}");
        }
    }

    public string Name(ConfigKind kind) => kind switch
    {
        ConfigKind.Null => "null",
        ConfigKind.Boolean => "a boolean",
        ConfigKind.Number => "a number",
        ConfigKind.Text => "text",
        ConfigKind.Array => "a list",
        _ => "an object",
    };
}
