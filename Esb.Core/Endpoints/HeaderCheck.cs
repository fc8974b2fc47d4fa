using Esb.Core.Configuration;
using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>Refuses patterns of headers that no header would ever match.</summary>
internal sealed class HeaderCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in configuration.Named<EndpointConfig>("endpoints").Values)
        {
            foreach (var pattern in endpoint.Headers) Check(pattern, endpoint, errors);
        }
    }

    private static void Check(string pattern, EndpointConfig endpoint, ConfigErrors errors)
    {
        var name = pattern.EndsWith('*') ? pattern[..^1] : pattern;
        if (name.Contains('*', StringComparison.Ordinal) || (pattern != "*" && !HeaderRules.IsName(name)))
            errors.Add("ESB-CFG-HEADER", endpoint, "headers", $"'{Clipped.To(40, Clipped.Name(pattern))}' is neither the name of a header nor the beginning of one followed by *");
        else if (HeaderRules.IsReserved(name))
            errors.Add("ESB-CFG-HEADER", endpoint, "headers", $"'{Clipped.To(40, pattern)}' is reserved for the bus and its broker, and never crosses a boundary");
    }
}
