using System.Text;
using System.Text.Json.Nodes;
using Esb.Configuration.Reading;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

/// <summary>The whole configuration: an object of sections.</summary>
internal sealed class RootType(SettingsCatalog catalog) : SettingType
{
    /// <summary>The key with which every file may name its schema, for editors.</summary>
    public const string SchemaKey = "$schema";

    private IEnumerable<ConfigSection> Available => catalog.Sections.Where(section => section.Settings is not null);

    public override VariableForm Form => VariableForm.Json;

    public static SettingType TypeOf(ConfigSection section) =>
        SettingTypes.For(
            section.Settings!,
            new SettingAttribute(section.Description)
            {
                NamesThings = section.Settings != typeof(string),
                NamesConfiguration = section.Settings == typeof(string),
            }
        );

    public override Dictionary<string, object> Read(ConfigNode node, SettingsReader reader)
    {
        var sections = new Dictionary<string, object>();
        foreach (var member in node.Members.Where(member => member.Name != SchemaKey))
        {
            if (catalog.Sections.FirstOrDefault(candidate => candidate.Name == member.Name) is not { } section)
                reader.RefuseUnknown(member, Available.Select(known => known.Name));
            else if (section.Settings is null)
                reader.RefuseUnavailable(member);
            else
                sections[section.Name] = Read(section, member.Value, reader);
        }

        return sections;
    }

    private object Read(ConfigSection section, ConfigNode node, SettingsReader reader)
    {
        var losses = reader.Losses;
        var value = TypeOf(section).Read(node, reader);
        if (value is null || reader.Losses > losses)
            reader.Damage(section.Name);
        return value ?? StandIn(section);
    }

    /// <summary>Returns the configuration with the default of each missing section.</summary>
    public ConfigNode WithDefaults(ConfigNode configuration)
    {
        foreach (var section in Available.Where(section => configuration[section.Name] is null))
            configuration = ConfigMerge.With(configuration, section.Name, DefaultOf(section));
        return configuration;
    }

    public override JsonObject Describe(SchemaWriter schema)
    {
        var properties = new JsonObject
        {
            [SchemaKey] = new JsonObject { ["type"] = "string", ["description"] = "The schema of this file, for editors." },
        };
        foreach (var section in Available)
        {
            var described = SchemaWriter.Annotate(TypeOf(section).Describe(schema), section.Description);
            if (section.Default != "{}")
                described["default"] = JsonNode.Parse(section.Default);
            properties[section.Name] = described;
        }

        return new JsonObject
        {
            ["type"] = "object",
            ["properties"] = properties,
            ["additionalProperties"] = false,
        };
    }

    public override (string Key, SettingType Type)? Find(ConfigNode node, string part, SettingsCatalog _) =>
        catalog.Sections.FirstOrDefault(section => Means(part, section.Name)) is { } section
            ? (section.Name, section.Settings is null ? new JsonType() : TypeOf(section)) // unavailable sections are refused when read
            : null;

    public override IEnumerable<string> Keys(ConfigNode node, SettingsCatalog _) => Available.Select(section => section.Name);

    // The default of a section that could not be read, so that all other sections can be checked.
    private object StandIn(ConfigSection section)
    {
        var value =
            TypeOf(section).Read(DefaultOf(section), new SettingsReader(catalog, new ConfigErrors()))
            ?? throw new InvalidOperationException($"The default of section '{section.Name}' cannot be read.");
        return value is SettingsRecord record ? record with { Flaws = SettingFlaws.Everything } : value;
    }

    private static ConfigNode DefaultOf(ConfigSection section)
    {
        var errors = new ConfigErrors();
        var text = new ConfigText(ConfigOrigin.Default.Source, folder: null, Encoding.UTF8.GetBytes(section.Default));
        var value =
            new ConfigJson(text, errors).Read()
            ?? throw new InvalidOperationException($"The default of section '{section.Name}' is not JSON: {errors.All[0]}");
        return value.MoveTo(section.Name, ConfigOrigin.Default);
    }
}
