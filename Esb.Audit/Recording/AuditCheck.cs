using Esb.Content.Masking;
using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Topics;

namespace Esb.Audit.Recording;

/// <summary>Reports masks and fields that cannot be compiled, and endpoints of which nothing can be recorded.</summary>
internal sealed class AuditCheck(EsbConfiguration configuration, IExpressionCompiler expressions, XmlInput xml, TimeProvider time) : IConfigurationCheck
{
    private const int ShortestKey = 16;

    public void Check(ConfigErrors errors)
    {
        var config = configuration.Section<AuditConfig>("audit");
        AuditPolicies.Compile(configuration, expressions, errors);
        MaskCompiler.Compile(config.Masks, config.HashKey, configuration, xml, time, errors);
        if (config.HashKey is { Length: < ShortestKey })
            errors.Add(MaskCompiler.Code, config, "hashKey", $"expected at least {ShortestKey} characters: with a short key hashes can be guessed");

        foreach (var endpoint in configuration.Named<EndpointConfig>("endpoints").Values.OfType<InboundEndpointConfig>().Where(endpoint => endpoint is { Relay: not null, Audit: not null }))
            errors.Add("ESB-AUD-RELAY", endpoint, "audit", "expected none: a relay passes bytes on, and leaves no facts");
        foreach (var policy in StepsWithoutProcess())
            errors.Add("ESB-AUD-STEPS", policy, "steps", "expected none: steps are passed behind an inbound endpoint with a process, and belong to it");
    }

    private IEnumerable<AuditPolicyConfig> StepsWithoutProcess() => configuration.Named<EndpointConfig>("endpoints").Values
        .Where(endpoint => endpoint is not InboundEndpointConfig { Process: not null })
        .Select(endpoint => endpoint.Audit)
        .Concat(configuration.Named<TopicConfig>("topics").Values.Select(topic => topic.Audit))
        .OfType<AuditPolicyConfig>()
        .Where(policy => policy.Steps is not null);
}
