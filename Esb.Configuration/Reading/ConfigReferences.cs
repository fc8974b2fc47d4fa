using System.Text;
using System.Text.RegularExpressions;
using Esb.Core.Configuration;

namespace Esb.Configuration.Reading;

/// <summary>Resolves <c>${env:NAME}</c> and <c>${file:path}</c> inside strings; <c>$${</c> is a plain <c>${</c>.</summary>
internal sealed partial class ConfigReferences(IReadOnlyDictionary<string, string> variables, ConfigErrors errors)
{
    public ConfigNode Resolve(ConfigNode node) =>
        node.Kind switch
        {
            ConfigKind.Object => node with { Members = [.. node.Members.Select(member => member with { Value = Resolve(member.Value) })] },
            ConfigKind.Array => node with { Items = [.. node.Items.Select(Resolve)] },
            ConfigKind.Text when node.Text.Contains("${", StringComparison.Ordinal) => ResolveText(node),
            _ => node,
        };

    private ConfigNode ResolveText(ConfigNode node)
    {
        var resolved = new StringBuilder();
        var end = 0;
        foreach (Match match in Reference().Matches(node.Text))
        {
            resolved.Append(node.Text, end, match.Index - end);
            end = match.Index + match.Length;
            if (match.Groups["escaped"].Success)
            {
                resolved.Append("${");
            }
            else if (!match.Groups["scheme"].Success)
            {
                node = node with { UnknownReference = node.UnknownReference ?? match.Value };
            }
            else
            {
                var name = match.Groups["name"].Value;
                var value = match.Groups["scheme"].Value == "env" ? ReadVariable(node, name) : ReadFile(node, name);
                node = node with { IsIndirect = true, Written = node.Text, IsUnresolved = node.IsUnresolved || value is null };
                resolved.Append(value);
            }
        }

        if (node.UnknownReference is not null)
            return node;
        return node with { Text = resolved.Append(node.Text, end, node.Text.Length - end).ToString() };
    }

    private string? ReadVariable(ConfigNode node, string name)
    {
        if (variables.GetValueOrDefault(name) is { Length: > 0 } value)
            return value;
        var fault = variables.ContainsKey(name)
            ? "is empty"
            : $"is not set{(name.Length > 4 ? NearestName.Hint(name, variables.Keys) : "")}";
        errors.Add("ESB-CFG-ENV", node.Path, $"the environment variable {name} {fault}", node.Origin);
        return null;
    }

    private string? ReadFile(ConfigNode node, string name)
    {
        var (content, fault) = node.Origin.Locate(name) is { } path ? SecretFile.Read(path) : (null, "has no name");
        if (fault is not null)
            errors.Add("ESB-CFG-SECRETFILE", node.Path, $"the file {Clipped.Name(name)} {fault}", node.Origin);
        return content;
    }

    // Any other text that begins like a reference is an error, including one without an end.
    [GeneratedRegex(@"(?<escaped>\$\$\{)|\$\{(?<scheme>env|file):(?<name>[^}]*)\}|\$\{[^}]*\}?")]
    private static partial Regex Reference();
}
