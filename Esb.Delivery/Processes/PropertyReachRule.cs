using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Delivery.Processes;

/// <summary>Rejects endpoints that read a property from messages of a topic: properties stay in the process that sets them. A process of
/// the endpoint may set it.</summary>
internal sealed class PropertyReachRule(IReadOnlyDictionary<string, EndpointConfig> endpoints) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        foreach (
            var endpoint in endpoints
                .Values.OfType<OutboundEndpointConfig>()
                .Where(endpoint => endpoint is { Subscribe.Count: > 0, PreparedBy: null, IsWhole: true })
        )
        {
            foreach (var use in endpoint.PropertyUses)
            {
                errors.Add(
                    "ESB-CFG-PROPERTY",
                    $"{endpoint.Path}.{use.Setting}",
                    $"reads the property '{use.Property}', which no message of {string.Join(", ", endpoint.Subscribe)} has: a "
                        + $"property does not travel over a topic; expected a header, or a process of the endpoint that sets it",
                    endpoint.Origin
                );
            }
        }
    }
}
