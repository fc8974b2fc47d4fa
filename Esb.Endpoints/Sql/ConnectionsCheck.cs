using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Endpoints.Sql.Tables;

namespace Esb.Endpoints.Sql;

/// <summary>Checks the section <c>connections</c>.</summary>
internal sealed class ConnectionsCheck(EsbConfiguration configuration, IEnumerable<IDatabaseProvider> providers) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in configuration.Named<EndpointConfig>("endpoints").Values.OfType<SqlOutboundConfig>().Where(endpoint => endpoint.Once || endpoint.SingleInstance))
        {
            if (BusTables.ObstacleOf(endpoint.Connection, configuration, providers) is not { } obstacle) continue;
            if (endpoint.Once) errors.Add("ESB-CFG-ONCE", endpoint, "once", obstacle);
            if (endpoint.SingleInstance) errors.Add("ESB-CFG-SINGLE", endpoint, "singleInstance", obstacle);
        }

        var names = providers.Select(provider => provider.Name).ToList();
        foreach (var connection in configuration.Named<ConnectionConfig>("connections").Values)
        {
            if (!connection.IsSound("provider")) continue;
            if (providers.FirstOrDefault(provider => provider.Name == connection.Provider) is { } known) known.Check(connection, errors);
            else errors.Add("ESB-CFG-VALUE", connection, "provider", $"expected one of {string.Join(", ", names)}{NearestName.Hint(connection.Provider, names)}");
        }
    }
}
