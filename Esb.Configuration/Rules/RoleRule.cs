using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Configuration.Rules;

/// <summary>Refuses roles of a host that no endpoint names, where endpoints have roles: they are misspelt.</summary>
internal sealed class RoleRule(HostConfig host, IReadOnlyDictionary<string, EndpointConfig> endpoints) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        var known = endpoints.Values.SelectMany(endpoint => endpoint.Roles).Distinct().ToList();
        if (!endpoints.Values.All(endpoint => endpoint.IsSound("roles")))
            return;
        foreach (var role in host.Roles.Except(known))
            errors.Add("ESB-CFG-ROLE", host, "roles", $"{Clipped.Name(role)} is a role of no endpoint{NearestName.Hint(role, known)}");
    }
}
