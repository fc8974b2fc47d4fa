using System.Text;
using Esb.Core.Configuration.Settings;

namespace Esb.Core.Configuration.Reading;

/// <summary>Lays environment variables such as <c>ESB__ENDPOINTS__ORDERS_DB__POOLSIZE=250</c> over a configuration. A variable that fits nothing is an error.</summary>
internal sealed class EnvironmentOverlay(SettingsCatalog catalog, SettingType root, ConfigErrors errors)
{
    private const string Prefix = "ESB__";

    public ConfigNode Apply(ConfigNode configuration, IReadOnlyDictionary<string, string> variables)
    {
        // A kind decides which names exist beside it, so it is laid over first.
        var ours = variables
            .Where(variable => variable.Key.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase))
            .OrderByDescending(variable => variable.Key.EndsWith("__TYPE", StringComparison.OrdinalIgnoreCase))
            .ThenBy(variable => variable.Key, StringComparer.Ordinal);
        foreach (var (name, value) in ours)
        {
            var parts = name[Prefix.Length..].Split("__");
            var origin = new ConfigOrigin($"environment variable {name}");
            configuration = Put(configuration, root, parts, value, origin) ?? configuration;
        }

        return configuration;
    }

    // Null after an error was reported.
    private ConfigNode? Put(ConfigNode node, SettingType type, ReadOnlySpan<string> parts, string value, ConfigOrigin origin)
    {
        if (parts.IsEmpty) return Parse(node.Path, type, value, origin);
        var whole = type.Expand(node.Kind == ConfigKind.Null ? node with { Kind = ConfigKind.Object, Origin = origin } : node);
        if (type.Find(whole, parts[0], catalog) is not { } found)
        {
            var place = whole.Path.Length == 0 ? "in the configuration" : $"in {whole.Path}";
            errors.Add("ESB-CFG-UNKNOWN", origin.Source, $"fits nothing: there is no {parts[0]} {place}{NearestName.Hint(parts[0], type.Keys(whole, catalog))}");
            return null;
        }

        if (whole.Kind == ConfigKind.Array) return PutItem(whole, int.Parse(found.Key, System.Globalization.CultureInfo.InvariantCulture), found.Type, parts[1..], value, origin);
        var child = whole[found.Key] ?? new ConfigNode(ConfigKind.Null, whole.PathOf(found.Key), origin);
        return Put(child, found.Type, parts[1..], value, origin) is { } changed ? ConfigMerge.With(whole, found.Key, changed) : null;
    }

    private ConfigNode? PutItem(ConfigNode list, int index, SettingType type, ReadOnlySpan<string> parts, string value, ConfigOrigin origin)
    {
        if (Put(list.Items[index], type, parts, value, origin) is not { } changed) return null;
        var items = list.Items.ToList();
        items[index] = changed;
        return list with { Items = items };
    }

    private ConfigNode? Parse(string path, SettingType type, string value, ConfigOrigin origin)
    {
        if (!type.IsWrittenAsJson) return new ConfigNode(ConfigKind.Text, path, origin) { Text = value, IsIndirect = true };
        var json = new ConfigJson(new ConfigText(origin.Source, Directory.GetCurrentDirectory(), Encoding.UTF8.GetBytes(value)), errors).Read();
        return json is null ? null : Place(json, path, origin);
    }

    private static ConfigNode Place(ConfigNode node, string path, ConfigOrigin origin) => node with
    {
        Path = path,
        Origin = origin,
        IsIndirect = true,
        Members = [.. node.Members.Select(member => new ConfigMember(member.Name, Place(member.Value, $"{path}.{member.Name}", origin), origin))],
        Items = [.. node.Items.Select((item, index) => Place(item, $"{path}[{index}]", origin))],
    };
}
