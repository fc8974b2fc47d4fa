using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Topics;

namespace Esb.Audit.Recording;

/// <summary>What the configuration wants to be recorded where: of an endpoint, else of the topic, else of all. Thread-safe.</summary>
internal sealed class AuditPolicies
{
    private readonly EndpointPolicies _everywhere;
    private readonly Dictionary<string, EndpointPolicies>.AlternateLookup<ReadOnlySpan<char>> _topics;

    private AuditPolicies(EndpointPolicies everywhere, Dictionary<string, EndpointPolicies> topics, ConfigErrors errors)
    {
        _everywhere = everywhere;
        Errors = errors;
        _topics = topics.GetAlternateLookup<ReadOnlySpan<char>>();
    }

    /// <summary>What is wrong with the fields, and was left out.</summary>
    public ConfigErrors Errors { get; }

    /// <summary>Compiles all that a configuration says.</summary>
    public static AuditPolicies Compile(EsbConfiguration configuration, IExpressionCompiler expressions)
    {
        var errors = new ConfigErrors();
        var endpoints = configuration.Named<EndpointConfig>("endpoints").Where(endpoint => endpoint.Value.Audit is not null).ToList();
        var all = configuration.Section<AuditConfig>("audit");
        var general = new AuditPolicy(all.Mode, all.Bodies, all.At, all.Steps, AuditField.Compile(all.Fields, expressions, errors));
        var topics = configuration.Named<TopicConfig>("topics")
            .Where(topic => topic.Value.Audit is not null)
            .ToDictionary(topic => topic.Key, topic => PoliciesOf(Refine(general, topic.Value.Audit!)));
        return new AuditPolicies(PoliciesOf(general), topics, errors);

        EndpointPolicies PoliciesOf(AuditPolicy otherwise) =>
            new(otherwise, endpoints.ToDictionary(endpoint => endpoint.Key, endpoint => Refine(Inherited(otherwise, endpoint.Value), endpoint.Value.Audit!)));

        AuditPolicy Refine(AuditPolicy policy, AuditPolicyConfig config) => new(
            config.Mode ?? policy.Mode,
            config.Bodies ?? policy.Bodies,
            config.At ?? policy.At,
            config.Steps ?? policy.Steps,
            config.Fields.Count == 0 ? policy.Fields : [.. policy.Fields.Where(field => !config.Fields.ContainsKey(field.Name)), .. AuditField.Compile(config.Fields, expressions, errors)]);
    }

    /// <summary>What is recorded at an endpoint under a subject; either may be unknown.</summary>
    public AuditPolicy Of(string? endpoint, string? subject) => On(subject).Of(endpoint);

    // A relay holds no bodies: what all others lift from theirs is not missed there.
    private static AuditPolicy Inherited(AuditPolicy otherwise, EndpointConfig endpoint) =>
        endpoint is InboundEndpointConfig { Relay: not null } ? otherwise with { Fields = [.. otherwise.Fields.Where(field => !field.Value.ReadsBody)] } : otherwise;

    private EndpointPolicies On(string? subject)
    {
        if (subject is null || _topics.Dictionary.Count == 0) return _everywhere;
        var end = subject.IndexOf('.', StringComparison.Ordinal);
        return _topics.TryGetValue(end < 0 ? subject : subject.AsSpan(0, end), out var policies) ? policies : _everywhere;
    }

    private sealed record EndpointPolicies(AuditPolicy Otherwise, Dictionary<string, AuditPolicy> Endpoints)
    {
        public AuditPolicy Of(string? endpoint) => endpoint is not null && Endpoints.TryGetValue(endpoint, out var policy) ? policy : Otherwise;
    }
}
