using System.Text;
using System.Text.RegularExpressions;

namespace Esb.Core.Configuration.Reading;

/// <summary>Resolves <c>${env:NAME}</c> and <c>${file:path}</c> inside strings; <c>$${</c> is a plain <c>${</c>.</summary>
internal sealed partial class ConfigReferences(Func<string, string?> variable, ConfigErrors errors)
{
    private static readonly Encoding Utf8 = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    public ConfigNode Resolve(ConfigNode node) => node.Kind switch
    {
        ConfigKind.Object => node with { Members = [.. node.Members.Select(member => member with { Value = Resolve(member.Value) })] },
        ConfigKind.Array => node with { Items = [.. node.Items.Select(Resolve)] },
        ConfigKind.Text when node.Text.Contains("${", StringComparison.Ordinal) => ResolveText(node),
        _ => node,
    };

    private ConfigNode ResolveText(ConfigNode node)
    {
        var indirect = node.IsIndirect;
        string? unknown = null;
        var text = Reference().Replace(node.Text, match =>
        {
            if (match.Groups["escaped"].Success) return "${";
            var name = match.Groups["name"].Value;
            switch (match.Groups["scheme"].Value)
            {
                case "env":
                    indirect = true;
                    return ReadVariable(node, name);
                case "file":
                    indirect = true;
                    return ReadFile(node, name);
                default:
                    unknown ??= match.Value;
                    return match.Value;
            }
        });
        return node with { Text = text, IsIndirect = indirect, UnknownReference = unknown };
    }

    private string ReadVariable(ConfigNode node, string name)
    {
        if (variable(name) is { } value) return value;
        errors.Add("ESB-CFG-ENV", node.Path, $"the environment variable {name} is not set", node.Origin);
        return "";
    }

    private string ReadFile(ConfigNode node, string name)
    {
        var path = Path.GetFullPath(name, node.Origin.Folder ?? Directory.GetCurrentDirectory());
        if (FaultOf(path) is { } fault)
        {
            errors.Add("ESB-CFG-SECRETFILE", node.Path, $"the file {name} {fault}", node.Origin);
            return "";
        }

        return File.ReadAllText(path, Utf8).TrimEnd('\r', '\n');
    }

    private static string? FaultOf(string path)
    {
        if (Directory.Exists(path)) return "is a directory";
        if (!File.Exists(path)) return "does not exist";
        if (new FileInfo(path).Length == 0) return "is empty";
        var others = UnixFileMode.OtherRead | UnixFileMode.OtherWrite;
        return !OperatingSystem.IsWindows() && (File.GetUnixFileMode(path) & others) != 0 ? "can be read by everybody" : null;
    }

    [GeneratedRegex(@"(?<escaped>\$\$\{)|\$\{(?:(?<scheme>[a-z]+):)?(?<name>[^}]*)\}")]
    private static partial Regex Reference();
}
