using System.Collections;
using System.Text;
using System.Text.Json.Nodes;
using Esb.Core.Configuration.Reading;
using Esb.Core.Configuration.Settings;

namespace Esb.Core.Configuration;

/// <summary>Reads a whole configuration: files, the overlay of an environment, environment variables, references; and checks all of it.</summary>
/// <remarks>Laid over one another in this order, the later one wins: defaults, the files, <c>environments/NAME.json</c>, variables <c>ESB__…</c>.</remarks>
public sealed class ConfigurationReader(SettingsCatalog catalog)
{
    /// <summary>Reads and checks; the result is null when anything is wrong, and the errors then say all that is.</summary>
    /// <param name="path">A file, or a folder whose <c>*.json</c> are merged.</param>
    /// <param name="variables">The environment variables.</param>
    /// <param name="errors">Receives every error.</param>
    public EsbConfiguration? Read(string path, IReadOnlyDictionary<string, string> variables, ConfigErrors errors)
    {
        variables.TryGetValue("ESB_ENVIRONMENT", out var environment);
        var files = new ConfigFiles(errors).Read(path, string.IsNullOrEmpty(environment) ? null : environment);
        if (files is null) return null;

        var root = new RootType(catalog);
        var whole = new EnvironmentOverlay(catalog, root, errors).Apply(WithDefaults(files), variables);
        whole = new ConfigReferences(name => variables.GetValueOrDefault(name), errors).Resolve(whole);

        var reader = new SettingsReader(catalog, errors);
        var sections = root.Read(whole, reader);
        reader.CheckReferences(whole);
        return errors.Any ? null : new EsbConfiguration(sections, reader.Values, Revision(whole));
    }

    internal static SettingType TypeOf(ConfigSection section) => SettingTypes.For(section.Settings!, new SettingAttribute(section.Description) { NamesThings = true });

    private ConfigNode WithDefaults(ConfigNode root)
    {
        foreach (var section in catalog.Sections.Where(section => section.Settings is not null && root[section.Name] is null))
        {
            var text = new ConfigText("default", Directory.GetCurrentDirectory(), Encoding.UTF8.GetBytes(section.Default));
            var value = new ConfigJson(text, new ConfigErrors()).Read()!;
            root = ConfigMerge.With(root, section.Name, AsDefault(value, section.Name));
        }

        return root;
    }

    private static ConfigNode AsDefault(ConfigNode node, string path) => node with
    {
        Path = path,
        Origin = ConfigOrigin.Default,
        Members = [.. node.Members.Select(member => new ConfigMember(member.Name, AsDefault(member.Value, $"{path}.{member.Name}"), ConfigOrigin.Default))],
    };

    // The canonical form: members sorted, white space gone. Two configurations that say the same have the same revision.
    private static string Revision(ConfigNode root)
    {
        var bytes = Encoding.UTF8.GetBytes(Canonical(root)?.ToJsonString() ?? "");
        return Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(bytes))[..12];
    }

    private static JsonNode? Canonical(ConfigNode node) => node.Kind switch
    {
        ConfigKind.Object => new JsonObject(node.Members.OrderBy(member => member.Name, StringComparer.Ordinal)
            .Select(member => KeyValuePair.Create(member.Name, Canonical(member.Value)))),
        ConfigKind.Array => new JsonArray([.. node.Items.Select(Canonical)]),
        _ => node.ToJson(),
    };

    private sealed class RootType(SettingsCatalog catalog) : SettingType
    {
        public override Dictionary<string, object> Read(ConfigNode node, SettingsReader reader)
        {
            var names = catalog.Sections.Where(section => section.Settings is not null).Select(section => section.Name).ToList();
            var sections = new Dictionary<string, object>();
            foreach (var member in node.Members.Where(member => member.Name != "$schema"))
            {
                if (catalog.Sections.FirstOrDefault(candidate => candidate.Name == member.Name) is not { } section)
                    reader.Errors.Add("ESB-CFG-UNKNOWN", member.Name, $"unknown{NearestName.Hint(member.Name, names)}", member.Origin);
                else if (section.Settings is null)
                    reader.Errors.Add("ESB-CFG-UNAVAILABLE", member.Name, "is designed, but this version cannot do it yet", member.Origin);
                else if (TypeOf(section).Read(member.Value, reader) is { } value)
                    sections[section.Name] = value;
            }

            return sections;
        }

        public override JsonObject Describe(SchemaWriter schema) => SchemaWriter.Write(catalog);

        public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog _) =>
            catalog.Sections.FirstOrDefault(section => Means(part, section.Name)) is { Settings: not null } section ? (section.Name, TypeOf(section)) : null;

        public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog _) => catalog.Sections.Select(section => section.Name);
    }
}
