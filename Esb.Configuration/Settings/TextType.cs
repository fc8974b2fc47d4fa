using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

internal sealed class TextType(SettingAttribute setting) : ScalarType
{
    public override object StandIn() => "";

    public override JsonObject Describe(SchemaWriter schema)
    {
        if (setting.Reference is { } section && schema.NamesOf(section) is { Count: > 0 } names)
            return SchemaWriter.OrReference(new JsonObject { ["enum"] = new JsonArray([.. names.Select(name => (JsonNode)name)]) });
        return setting.NamesConfiguration
            ? new() { ["type"] = "string", ["pattern"] = ThingName.ConfigurationPattern }
            : new() { ["type"] = "string" };
    }

    protected override object? ParseResolved(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind != ConfigKind.Text)
        {
            reader.Errors.Add("ESB-CFG-TYPE", node, $"expected text, got {SettingsReader.Name(node.Kind)}");
            return null;
        }

        if (reader.RefusesReference(node, setting.UnknownReferenceCode))
            return null;
        if (Secrets.StandInClear(node))
            reader.Errors.Add(
                new ConfigError(
                    "ESB-CFG-CLEARSECRET",
                    node.Path,
                    Secrets.Mask,
                    "secrets come from ${env:NAME} or ${file:path} only",
                    node.Origin
                )
            );
        if (setting.NamesConfiguration)
            ThingName.CheckConfiguration(node, reader.Errors);
        if (setting.Reference is { } section)
            reader.Refer(section, node.Text, node);
        return setting.IsPath ? ReadPath(node, reader) : node.Text;
    }

    protected override string Show(ConfigNode node, object value) => node.Show();

    private static string? ReadPath(ConfigNode node, SettingsReader reader)
    {
        var path = node.Origin.Locate(node.Text);
        if (path is null)
            reader.Errors.Add("ESB-CFG-PATH", node, "expected a path, relative to the file that names it, or absolute");
        return path;
    }
}
