using Esb.Content.Masking;
using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Topics;

namespace Esb.Audit.Recording;

/// <summary>Reports masks and fields that cannot be compiled, and endpoints of which nothing can be recorded.</summary>
internal sealed class AuditCheck(EsbConfiguration configuration, AuditPolicies policies, XmlInput xml, TimeProvider time) : IConfigurationCheck
{
    private const int ShortestKey = 16;

    public void Check(ConfigErrors errors)
    {
        var config = configuration.Section<AuditConfig>("audit");
        errors.AddAll(policies.Errors);
        MaskCompiler.Compile(config.Masks, config.HashKey, configuration, xml, time, errors);
        if (config.HashKey is { Length: < ShortestKey })
            errors.Add(MaskCompiler.Code, config, "hashKey", $"expected at least {ShortestKey} characters: with a short key hashes can be guessed");

        foreach (var endpoint in configuration.Named<EndpointConfig>("endpoints").Values.OfType<InboundEndpointConfig>().Where(endpoint => endpoint.Relay is not null))
        {
            if (endpoint.Audit is { } audit) CheckRelay(audit, policies.Of(endpoint.Name, subject: null), errors);
        }

        foreach (var policy in StepsWithoutProcess())
            errors.Add("ESB-AUD-STEPS", policy, "steps", "expected none: steps are passed behind an inbound endpoint with a process, and belong to it");
    }

    private static void CheckRelay(AuditPolicyConfig audit, AuditPolicy policy, ConfigErrors errors)
    {
        const string code = "ESB-AUD-RELAY";
        if (policy.Bodies == AuditBodies.Whole) errors.Add(code, audit, "bodies", "expected none, headers or fields: a relay passes bodies on, and holds none");
        foreach (var field in policy.Fields.Where(field => field.Value.ReadsBody))
            errors.Add(code, audit.Fields[field.Name].Path, "expected a value that needs no body, such as a header: a relay passes bodies on, and holds none", audit.Fields[field.Name].Origin);
    }

    private IEnumerable<AuditPolicyConfig> StepsWithoutProcess() => configuration.Named<EndpointConfig>("endpoints").Values
        .Where(endpoint => endpoint is not InboundEndpointConfig { Process: not null })
        .Select(endpoint => endpoint.Audit)
        .Concat(configuration.Named<TopicConfig>("topics").Values.Select(topic => topic.Audit))
        .OfType<AuditPolicyConfig>()
        .Where(policy => policy.Steps is not null);
}
