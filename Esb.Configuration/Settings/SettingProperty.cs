using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

/// <summary>One configured property of a settings record.</summary>
internal sealed class SettingProperty(PropertyInfo property, SettingAttribute setting)
{
    public SettingAttribute Setting => setting;

    public string Name { get; } = setting.Name ?? JsonNamingPolicy.CamelCase.ConvertName(property.Name);

    public bool IsRequired { get; } = property.IsDefined(typeof(RequiredMemberAttribute));

    public Secrecy Secrecy =>
        setting.Secret ? Secrecy.Whole
        : setting.MayHoldPassword ? Secrecy.Password
        : Secrecy.None;

    public SettingType Type => field ??= SettingTypes.For(property, setting); // lazy: records may hold records of their own kind

    public static IReadOnlyList<SettingProperty> Of(Type type) =>
        [
            .. type.GetProperties()
                .Select(property => (property, setting: property.GetCustomAttribute<SettingAttribute>()))
                .Where(candidate => candidate.setting is not null)
                .Select(candidate => new SettingProperty(candidate.property, candidate.setting!)),
        ];

    public void Read(ConfigNode owner, SettingsRecord record, SettingsReader reader, SettingFlaws flaws)
    {
        if (owner[Name] is { } node)
        {
            var losses = reader.Losses;
            if (Type.Read(node, reader) is { } value)
                property.SetValue(record, value);
            else
                flaws.Lose(Name);
            if (reader.Losses > losses)
                flaws.Damage(Name);
        }
        else if (IsRequired)
        {
            reader.Errors.Add("ESB-CFG-REQUIRED", owner.PathOf(Name), $"is required: {setting.Description}", owner.Origin);
            flaws.Lose(Name);
        }
        else
        {
            ReadDefault(record, reader);
        }
    }

    /// <summary>Gives a required property that could not be read a stand-in value; false if its type has none.</summary>
    public bool StandIn(SettingsRecord record)
    {
        if (!IsRequired || property.GetValue(record) is not null)
            return true;
        if (Type.StandIn() is not { } value)
            return false;
        property.SetValue(record, value);
        return true;
    }

    /// <summary>Traces the default value of a property that is not written.</summary>
    public void ReadDefault(SettingsRecord record, SettingsReader reader)
    {
        var path = ConfigNode.Join(record.Path, Name);
        var value = property.GetValue(record);
        if (value is SettingsRecord inner && Type is RecordType type)
            property.SetValue(record, type.ReadDefaults(inner, path, reader));
        if (SettingValue.ToJson(value) is not { } json)
            return;
        reader.Trace(path, json.ToJsonString(JsonStyle.Readable), ConfigOrigin.Default);
        if (setting.Reference is { } section && value is string name)
            reader.Refer(section, name, new ConfigNode(ConfigKind.Text, path, record.Origin) { Text = name });
    }

    public JsonObject Describe(SchemaWriter schema)
    {
        var described = SchemaWriter.Annotate(Type.Describe(schema), setting.Description);
        if (!IsRequired && SettingValue.ToJson(property.GetValue(Activator.CreateInstance(property.ReflectedType!))) is { } value)
            described["default"] = value;
        return described;
    }
}
