using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Topics;

namespace Esb.Audit.Recording;

/// <summary>What the configuration wants to be recorded where: of an endpoint, else of the topic, else of all. Thread-safe.</summary>
internal sealed class AuditPolicies
{
    private readonly EndpointPolicies _everywhere;
    private readonly Dictionary<string, EndpointPolicies>.AlternateLookup<ReadOnlySpan<char>> _topics;

    /// <summary>Applies what the configuration says of all, of topics and of endpoints.</summary>
    /// <param name="general">What is recorded of all.</param>
    /// <param name="topics">Topics with a policy of their own.</param>
    /// <param name="endpoints">Endpoints with a policy of their own.</param>
    /// <param name="refine">The policy of a topic or endpoint, over the one that holds otherwise.</param>
    public AuditPolicies(
        AuditPolicy general,
        IEnumerable<TopicConfig> topics,
        IReadOnlyCollection<EndpointConfig> endpoints,
        Func<AuditPolicy, AuditPolicyConfig, AuditPolicy> refine
    )
    {
        _everywhere = PoliciesOf(general);
        _topics = topics
            .ToDictionary(topic => topic.Name, topic => PoliciesOf(refine(general, topic.Audit!)))
            .GetAlternateLookup<ReadOnlySpan<char>>();

        EndpointPolicies PoliciesOf(AuditPolicy otherwise) =>
            new(
                otherwise,
                endpoints.ToDictionary(endpoint => endpoint.Name, endpoint => refine(Inherited(otherwise, endpoint), endpoint.Audit!))
            );
    }

    /// <summary>What is recorded at an endpoint under a subject; either may be unknown.</summary>
    public AuditPolicy Of(string? endpoint, string? subject) => On(subject).Of(endpoint);

    // A relay holds no bodies: what all others lift from theirs is not missed there.
    private static AuditPolicy Inherited(AuditPolicy otherwise, EndpointConfig endpoint) =>
        endpoint is InboundEndpointConfig { Relay: not null }
            ? otherwise with
            {
                Fields = [.. otherwise.Fields.Where(field => !field.Value.ReadsBody)],
            }
            : otherwise;

    private EndpointPolicies On(string? subject)
    {
        if (subject is null || _topics.Dictionary.Count == 0)
            return _everywhere;
        var end = subject.IndexOf('.', StringComparison.Ordinal);
        return _topics.TryGetValue(end < 0 ? subject : subject.AsSpan(0, end), out var policies) ? policies : _everywhere;
    }

    private sealed record EndpointPolicies(AuditPolicy Otherwise, Dictionary<string, AuditPolicy> Endpoints)
    {
        public AuditPolicy Of(string? endpoint) =>
            endpoint is not null && Endpoints.TryGetValue(endpoint, out var policy) ? policy : Otherwise;
    }
}
