namespace Esb.Core.Configuration.Reading;

/// <summary>Lays one tree over another: objects merge, everything else replaces.</summary>
internal static class ConfigMerge
{
    public static ConfigNode LayOver(ConfigNode below, ConfigNode above)
    {
        if (below.Kind != ConfigKind.Object || above.Kind != ConfigKind.Object) return above;
        var members = below.Members.ToList();
        foreach (var member in above.Members) Put(members, member);
        return below with { Members = members };
    }

    /// <summary>The object with one member put over what it held under that name.</summary>
    public static ConfigNode With(ConfigNode parent, string name, ConfigNode value)
    {
        var members = parent.Members.ToList();
        var index = members.FindIndex(member => member.Name == name);
        if (index < 0) members.Add(new ConfigMember(name, value, value.Origin));
        else members[index] = members[index] with { Value = value };
        return parent with { Members = members };
    }

    private static void Put(List<ConfigMember> members, ConfigMember above)
    {
        var index = members.FindIndex(member => member.Name == above.Name);
        if (index < 0) members.Add(above);
        else members[index] = above with { Value = LayOver(members[index].Value, above.Value) };
    }
}
