using System.Globalization;
using System.Text;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;

namespace Esb.Configuration.Reading;

/// <summary>Lays environment variables such as <c>ESB__ENDPOINTS__ORDERS_DB__POOLSIZE=250</c> over a configuration. A variable that matches
/// nothing is an error.</summary>
internal sealed class EnvironmentOverlay(SettingsCatalog catalog, SettingType root, ConfigErrors errors)
{
    private const string Prefix = "ESB__";

    public ConfigNode Apply(ConfigNode configuration, IReadOnlyDictionary<string, string> variables)
    {
        var ours = variables.Where(variable => variable.Key.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase)).ToList();
        RefuseTwins(ours.Select(variable => variable.Key));

        // Process a whole before its parts, and a kind before its siblings: it determines which names exist beside it.
        var ordered = ours.OrderBy(variable => PartsOf(variable.Key).Length)
            .ThenByDescending(variable => variable.Key.EndsWith("__TYPE", StringComparison.OrdinalIgnoreCase))
            .ThenBy(variable => variable.Key, StringComparer.Ordinal);
        foreach (var (name, value) in ordered)
        {
            var origin = new ConfigOrigin($"environment variable {name}");
            configuration = Put(configuration, root, PartsOf(name), value, origin) ?? configuration;
        }

        return configuration;
    }

    private static string[] PartsOf(string name) => name[Prefix.Length..].Split("__");

    private void RefuseTwins(IEnumerable<string> names)
    {
        foreach (var twins in names.GroupBy(name => name, StringComparer.OrdinalIgnoreCase).Where(group => group.Count() > 1))
            errors.Add(
                "ESB-CFG-DUPNAME",
                $"environment variable {twins.First()}",
                $"is given twice: {string.Join(" and ", twins.Order(StringComparer.Ordinal))}"
            );
    }

    // Returns null after an error was reported.
    private ConfigNode? Put(ConfigNode node, SettingType type, ReadOnlySpan<string> parts, string value, ConfigOrigin origin)
    {
        if (parts.IsEmpty)
            return Parse(node.Path, type.Form, value, origin);
        var whole = type.Expand(node.Kind == ConfigKind.Null ? node with { Kind = ConfigKind.Object, Origin = origin } : node);
        if (type.Find(whole, parts[0], catalog) is not { } found)
        {
            var place = whole.Path.Length == 0 ? "in the configuration" : $"in {whole.Path}";
            errors.Add(
                "ESB-CFG-UNKNOWN",
                origin.Source,
                $"fits nothing: there is no {Clipped.Name(parts[0])} {place}{NearestName.Hint(parts[0], type.Keys(whole, catalog))}"
            );
            return null;
        }

        if (type is ListType)
            return PutItem(whole, int.Parse(found.Key, CultureInfo.InvariantCulture), found.Type, parts[1..], value, origin);
        var child = whole[found.Key] ?? new ConfigNode(ConfigKind.Null, whole.PathOf(found.Key), origin);
        if (Put(child, found.Type, parts[1..], value, origin) is not { } changed)
            return null;
        var above = new ConfigNode(ConfigKind.Object, whole.Path, origin) { Members = [new ConfigMember(found.Key, changed, origin)] };
        return ConfigMerge.With(type.Keep(whole, above, catalog), found.Key, changed);
    }

    private ConfigNode? PutItem(ConfigNode list, int index, SettingType type, ReadOnlySpan<string> parts, string value, ConfigOrigin origin)
    {
        if (Put(list.Items[index], type, parts, value, origin) is not { } changed)
            return null;
        var items = list.Items.ToList();
        items[index] = changed;
        return list with { Items = items };
    }

    private ConfigNode? Parse(string path, VariableForm form, string value, ConfigOrigin origin)
    {
        var text = new ConfigNode(ConfigKind.Text, path, origin) { Text = value, IsIndirect = true };
        if (form == VariableForm.Text)
            return text;
        var faults = form == VariableForm.JsonOrText ? new ConfigErrors() : errors;
        var json = new ConfigJson(
            new ConfigText(origin.Source, folder: null, Encoding.UTF8.GetBytes(value), mayBeSecret: true),
            faults
        ).Read();
        if (json is null)
            return form == VariableForm.JsonOrText ? text : null;
        return Indirect(json.MoveTo(path, origin));
    }

    private static ConfigNode Indirect(ConfigNode node) =>
        node with
        {
            IsIndirect = true,
            Members = [.. node.Members.Select(member => member with { Value = Indirect(member.Value) })],
            Items = [.. node.Items.Select(Indirect)],
        };
}
