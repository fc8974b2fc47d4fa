using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Topics;

namespace Esb.Audit.Recording;

/// <summary>Compiles what is recorded where: the section <c>audit</c>, and <c>audit</c> of topics and endpoints. Reports what cannot be
/// recorded there.</summary>
internal sealed class AuditPolicyCompiler(
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    IReadOnlyDictionary<string, TopicConfig> topics,
    AuditConfig audit,
    ConfigErrors errors,
    IExpressionCompiler expressions
) : ICompiler<AuditPolicies>
{
    public AuditPolicies Compile()
    {
        var general = new AuditPolicy(
            audit.Mode,
            audit.Flush,
            audit.Bodies,
            audit.At,
            audit.Steps,
            AuditField.Compile(audit.Fields, expressions, errors)
        );
        var policies = new AuditPolicies(
            general,
            topics.Values.Where(topic => topic.Audit is not null),
            [.. endpoints.Values.Where(endpoint => endpoint.Audit is not null)],
            Refine
        );
        foreach (var endpoint in endpoints.Values.OfType<InboundEndpointConfig>().Where(endpoint => endpoint.Relay is not null))
        {
            if (endpoint.Audit is { } own)
                CheckRelay(own, policies.Of(endpoint.Name, subject: null));
        }

        foreach (var policy in StepsWithoutProcess())
            errors.Add("ESB-AUD-STEPS", policy, "steps", "expected none: steps are passed at an endpoint with a process, and belong to it");
        return policies;
    }

    private AuditPolicy Refine(AuditPolicy policy, AuditPolicyConfig config) =>
        new(
            config.Mode ?? policy.Mode,
            config.Flush ?? policy.Flush,
            config.Bodies ?? policy.Bodies,
            config.At ?? policy.At,
            config.Steps ?? policy.Steps,
            config.Fields.Count == 0
                ? policy.Fields
                :
                [
                    .. policy.Fields.Where(field => !config.Fields.ContainsKey(field.Name)),
                    .. AuditField.Compile(config.Fields, expressions, errors),
                ]
        );

    private void CheckRelay(AuditPolicyConfig audit, AuditPolicy policy)
    {
        const string code = "ESB-AUD-RELAY";
        if (policy.Bodies == AuditBodies.Whole)
            errors.Add(code, audit, "bodies", "expected none, headers or fields: a relay passes bodies on, and holds none");
        foreach (var field in policy.Fields.Where(field => field.Value.ReadsBody))
        {
            errors.Add(
                code,
                audit.Fields[field.Name].Path,
                "expected a value that needs no body, such as a header: a relay passes bodies on, and holds none",
                audit.Fields[field.Name].Origin
            );
        }
    }

    private IEnumerable<AuditPolicyConfig> StepsWithoutProcess() =>
        endpoints
            .Values.Where(endpoint => endpoint.Processes.Count == 0)
            .Select(endpoint => endpoint.Audit)
            .Concat(topics.Values.Select(topic => topic.Audit))
            .OfType<AuditPolicyConfig>()
            .Where(policy => policy.Steps is not null);
}
