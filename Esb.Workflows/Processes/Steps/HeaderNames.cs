using Esb.Core.Configuration;
using Esb.Core.Messages;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Rejects header names that a step cannot set.</summary>
internal static class HeaderNames
{
    public static void Check(IEnumerable<string> names, string path, ConfigOrigin origin, ConfigErrors errors)
    {
        foreach (var name in names)
        {
            if (!HeaderRules.IsName(name))
                errors.Add(
                    "ESB-CFG-HEADER",
                    ConfigNode.Join(path, name),
                    "is not a header name: expected letters, digits and !#$%&'*+-.^_`|~",
                    origin
                );
            else if (HeaderRules.IsReserved(name))
                errors.Add("ESB-CFG-HEADER", ConfigNode.Join(path, name), "is reserved for the bus and its broker", origin);
        }
    }
}
