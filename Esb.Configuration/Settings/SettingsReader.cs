using Esb.Core.Configuration;

namespace Esb.Configuration.Settings;

/// <summary>One reading of a configuration: collects errors, references to check at the end, and the origin of each value.</summary>
internal sealed class SettingsReader(SettingsCatalog catalog, ConfigErrors errors)
{
    private readonly List<(string Section, string Name, ConfigNode Node)> _references = [];
    private readonly List<TracedValue> _values = [];
    private readonly HashSet<string> _damaged = [];

    public SettingsCatalog Catalog => catalog;

    public ConfigErrors Errors => errors;

    public IReadOnlyList<TracedValue> Values => _values;

    /// <summary>The number of values that could not be read so far. If it grows while a node is read, a nested value was lost.</summary>
    public int Losses { get; private set; }

    /// <summary>Returns the name of a kind of value for error messages.</summary>
    public static string Name(ConfigKind kind) =>
        kind switch
        {
            ConfigKind.Null => "null",
            ConfigKind.Boolean => "a boolean",
            ConfigKind.Number => "a number",
            ConfigKind.Text => "text",
            ConfigKind.Array => "a list",
            _ => "an object",
        };

    /// <summary>Records that a value could not be read and is omitted.</summary>
    public void Lose() => Losses++;

    /// <summary>The sections with values that could not be read.</summary>
    public IReadOnlySet<string> Damaged => _damaged;

    /// <summary>Records that a value of a section could not be read.</summary>
    public void Damage(string section) => _damaged.Add(section);

    public void Refer(string section, string name, ConfigNode node) => _references.Add((section, name, node));

    public void Trace(string path, string shown, ConfigOrigin origin) => _values.Add(new TracedValue(path, shown, origin));

    /// <summary>Refuses an unknown member; returns the name that was probably meant.</summary>
    /// <param name="member">The member.</param>
    /// <param name="known">The names it may be a misspelling of.</param>
    /// <param name="what">The beginning of the sentence.</param>
    /// <param name="offered">The names to list if none is near; null for all known ones.</param>
    public string? RefuseUnknown(
        ConfigMember member,
        IEnumerable<string> known,
        string what = "unknown",
        IEnumerable<string>? offered = null
    )
    {
        var names = known.ToList();
        var meant = NearestName.Find(member.Name, names);
        var hint =
            meant is not null || names.Count == 0
                ? NearestName.Hint(member.Name, names)
                : $"; known here are {string.Join(", ", offered ?? names)}";
        errors.Add("ESB-CFG-UNKNOWN", member.Value.Path, what + hint, member.Origin);
        return meant;
    }

    /// <summary>Refuses a member that is designed but not implemented in this version.</summary>
    public void RefuseUnavailable(ConfigMember member, string what = "") =>
        errors.Add("ESB-CFG-UNAVAILABLE", member.Value.Path, $"{what}is designed, but this version cannot do it yet", member.Origin);

    /// <summary>True if the text holds a <c>${…}</c> of an unknown form, which is then reported.</summary>
    public bool RefusesReference(ConfigNode node, string code)
    {
        if (node.UnknownReference is not { } unknown)
            return false;
        errors.Add(code, node, $"{unknown} is neither ${{env:NAME}} nor ${{file:path}}; a plain ${{ is written $${{");
        return true;
    }

    public void CheckReferences(ConfigNode root)
    {
        foreach (var (section, name, node) in _references)
        {
            if (root[section] is { Kind: not ConfigKind.Object })
                continue; // reported already
            var names = root[section]?.Members.Select(member => member.Name).ToList() ?? [];
            if (!names.Contains(name))
                errors.Add(
                    "ESB-CFG-REF",
                    node,
                    $"there is no \"{name}\" in {section}{NearestName.Hint(name, names.Where(ThingName.IsValid))}"
                );
        }
    }
}
