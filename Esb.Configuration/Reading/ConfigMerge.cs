using Esb.Configuration.Settings;
using Esb.Core.Configuration;

namespace Esb.Configuration.Reading;

/// <summary>Lays one tree over another: objects merge, everything else replaces.</summary>
internal sealed class ConfigMerge(SettingsCatalog catalog)
{
    /// <summary>Lays a tree over another of the same type. If the kind changes, members that only the old kind has are removed.</summary>
    public ConfigNode LayOver(ConfigNode below, ConfigNode above, SettingType? type)
    {
        if (below.Kind != ConfigKind.Object || above.Kind != ConfigKind.Object)
            return above;
        var kept = type?.Keep(below, above, catalog) ?? below;
        var members = kept.Members.ToList();
        foreach (var member in above.Members)
        {
            var index = members.FindIndex(present => present.Name == member.Name);
            if (index < 0)
                members.Add(member);
            else
                members[index] = member with { Value = LayOver(members[index].Value, member.Value, TypeOf(member.Name, kept, type)) };
        }

        return kept with
        {
            Members = members,
        };
    }

    /// <summary>Returns the object with one member added or replaced.</summary>
    public static ConfigNode With(ConfigNode parent, string name, ConfigNode value)
    {
        var members = parent.Members.ToList();
        var index = members.FindIndex(member => member.Name == name);
        if (index < 0)
            members.Add(new ConfigMember(name, value, value.Origin));
        else
            members[index] = members[index] with { Value = value };
        return parent with { Members = members };
    }

    private SettingType? TypeOf(string name, ConfigNode owner, SettingType? type) =>
        type?.Find(owner, name, catalog) is { } found && found.Key == name ? found.Type : null;
}
