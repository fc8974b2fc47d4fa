using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Delivery.Processes;

/// <summary>Rejects <c>process</c> and <c>reply</c> of an outbound endpoint if they would never run.</summary>
internal sealed class EndpointProcessRule(IReadOnlyDictionary<string, EndpointConfig> endpoints) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        var relayed = endpoints.Values.OfType<InboundEndpointConfig>().SelectMany(endpoint => endpoint.Relays).ToHashSet();
        foreach (var endpoint in endpoints.Values.OfType<OutboundEndpointConfig>())
        {
            if (relayed.Contains(endpoint.Name))
                RefuseRelayed(endpoint, errors);
            if (endpoint is { Reply: not null, Answers: false, IsWhole: true })
                errors.Add("ESB-CFG-REPLY", endpoint, "reply", "the endpoint gives no answers; expected none");
        }
    }

    private static void RefuseRelayed(OutboundEndpointConfig endpoint, ConfigErrors errors)
    {
        var named = new[] { ("process", endpoint.PreparedBy), ("reply", endpoint.Reply) }.Where(setting => setting.Item2 is not null);
        foreach (var (setting, _) in named)
            errors.Add(
                "ESB-CFG-RELAY",
                endpoint,
                setting,
                "a relay passes requests and answers on as they are; expected another endpoint for what runs through a process"
            );
    }
}
