using System.Text.Json.Nodes;
using System.Text.RegularExpressions;

namespace Esb.Core.Configuration.Settings;

internal sealed partial class TextType(SettingAttribute setting) : SettingType
{
    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind != ConfigKind.Text)
        {
            reader.Refuse("ESB-CFG-TYPE", node, $"expected text, got {reader.Name(node.Kind)}");
            return null;
        }

        if (node.UnknownReference is { } unknown)
        {
            reader.Refuse(setting.UnknownReferenceCode, node, $"{unknown} is neither ${{env:NAME}} nor ${{file:path}}; a plain ${{ is written $${{");
            return null;
        }

        if (!node.IsIndirect && (setting.Secret || (setting.MayHoldPassword && Password().IsMatch(node.Text))))
            reader.Errors.Add(new ConfigError("ESB-CFG-CLEARSECRET", node.Path, "***", "secrets come from ${env:NAME} or ${file:path} only", node.Origin));
        if (setting.Reference is { } section) reader.Refer(section, node.Text, node);
        return setting.IsPath ? Path.GetFullPath(node.Text, node.Origin.Folder ?? Directory.GetCurrentDirectory()) : node.Text;
    }

    public override JsonObject Describe(SchemaWriter schema) => new() { ["type"] = "string" };

    /// <summary>The text as people may see it.</summary>
    public static string Mask(SettingAttribute setting, string text) =>
        setting.Secret ? "***" : setting.MayHoldPassword ? Password().Replace(text, match => match.Groups["before"].Value + "***") : text;

    [GeneratedRegex(@"(?<before>(?:password|pwd)\s*=\s*)[^;\s]+|(?<before>://[^/@:\s]*:)[^/@\s]+(?=@)", RegexOptions.IgnoreCase)]
    private static partial Regex Password();
}
