using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Endpoints.Sql.Tables;

namespace Esb.Endpoints.Sql;

/// <summary>Checks the section <c>connections</c>.</summary>
internal sealed class ConnectionsRule(
    IReadOnlyDictionary<string, EndpointConfig> endpoints, IReadOnlyDictionary<string, ConnectionConfig> connections, IEnumerable<IDatabaseProvider> providers) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in endpoints.Values.OfType<SqlOutboundConfig>().Where(endpoint => endpoint.Once || endpoint.SingleInstance))
        {
            if (BusTables.ObstacleOf(endpoint.Connection, connections, providers) is not { } obstacle) continue;
            if (endpoint.Once) errors.Add("ESB-CFG-ONCE", endpoint, "once", obstacle);
            if (endpoint.SingleInstance) errors.Add("ESB-CFG-SINGLE", endpoint, "singleInstance", obstacle);
        }

        var names = providers.Select(provider => provider.Name).ToList();
        foreach (var connection in connections.Values)
        {
            if (!connection.IsSound("provider")) continue;
            if (providers.FirstOrDefault(provider => provider.Name == connection.Provider) is { } known) known.Check(connection, errors);
            else errors.Add("ESB-CFG-VALUE", connection, "provider", $"expected one of {string.Join(", ", names)}{NearestName.Hint(connection.Provider, names)}");
        }
    }
}
