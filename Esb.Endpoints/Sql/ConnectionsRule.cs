using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Endpoints.Sql.Tables;

namespace Esb.Endpoints.Sql;

/// <summary>Checks the section <c>connections</c>.</summary>
internal sealed class ConnectionsRule(
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    IReadOnlyDictionary<string, ConnectionConfig> connections,
    DatabaseProviders providers
) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in endpoints.Values.OfType<SqlOutboundConfig>().Where(endpoint => endpoint.Once || endpoint.SingleInstance))
        {
            if (BusTables.ObstacleOf(endpoint.Connection, connections, providers) is not { } obstacle)
                continue;
            if (endpoint.Once)
                errors.Add("ESB-CFG-ONCE", endpoint, "once", obstacle);
            if (endpoint.SingleInstance)
                errors.Add("ESB-CFG-SINGLE", endpoint, "singleInstance", obstacle);
        }

        foreach (var endpoint in endpoints.Values.OfType<SqlOutboundConfig>())
            CheckProvider(endpoint, errors);

        var names = providers.Select(provider => provider.Name).ToList();
        foreach (var connection in connections.Values)
        {
            if (!connection.IsSound("provider"))
                continue;
            if (providers.FirstOrDefault(provider => provider.Name == connection.Provider) is { } known)
                known.Check(connection, errors);
            else
                errors.Add(
                    "ESB-CFG-VALUE",
                    connection,
                    "provider",
                    $"expected one of {string.Join(", ", names)}{NearestName.Hint(connection.Provider, names)}"
                );
        }
    }

    private void CheckProvider(SqlOutboundConfig endpoint, ConfigErrors errors)
    {
        if (
            !connections.TryGetValue(endpoint.Connection, out var connection)
            || providers.FirstOrDefault(provider => provider.Name == connection.Provider) is not { } provider
        )
            return;
        if (endpoint.Batch is not null && !provider.FindsRefused)
            errors.Add(
                "ESB-CFG-BATCH",
                endpoint,
                "batch",
                $"the provider '{provider.Name}' cannot tell which message of a batch was refused: expected no batch"
            );
        foreach (var parameter in endpoint.Parameters.Values)
        {
            if (parameter.Type is { } type && provider.FaultOfType(type) is { } fault)
                errors.Add("ESB-CFG-VALUE", parameter, "type", fault);
        }
    }
}
