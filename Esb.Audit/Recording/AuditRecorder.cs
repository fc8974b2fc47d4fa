using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Recording;

/// <summary>Makes of what happened what is recorded of it: with the host, without secrets, with as much of the message as is wanted there.
/// Thread-safe.</summary>
internal sealed class AuditRecorder(
    AuditConfig config,
    AuditPolicies policies,
    IMessageMask mask,
    RevisionIdentity revision,
    TimeProvider time,
    ILogger<AuditRecorder> logger,
    TunedEndpoints? tuned = null
)
{
    private readonly AuditWarnings _warnings = new(time, logger);

    /// <summary>What is made unreadable.</summary>
    public IMessageMask Mask => mask;

    /// <summary>The id of the configuration's revision.</summary>
    public string Revision => revision.Id;

    /// <summary>How much is recorded with facts of a kind at an endpoint.</summary>
    public AuditBodies Wants(AuditKind kind, string endpoint) => PolicyOf(endpoint, subject: null).Of(kind);

    /// <summary>Whether steps leave facts, of messages that came in by an endpoint.</summary>
    public bool WantsSteps(string endpoint) => policies.Of(endpoint, subject: null).Steps;

    /// <summary>Whether each fact of an endpoint is durable before the next action.</summary>
    public bool RecordsFirst(string endpoint) => policies.Of(endpoint, subject: null).RecordsFirst;

    /// <summary>What is recorded of a fact, and when it counts as recorded.</summary>
    public AuditPolicy PolicyOf(AuditFact fact) => policies.Of(fact.Endpoint, fact.Subject);

    /// <summary>When a fact counts as recorded.</summary>
    public AuditMode ModeOf(AuditFact fact) => policies.Of(fact.Endpoint, fact.Subject).Mode;

    /// <summary>The fact with what only the host knows, and without secrets in its text.</summary>
    public AuditFact Complete(AuditFact fact) =>
        fact.Reason is null && fact.Host == AuditFacts.Host && fact.Revision == revision.Id
            ? fact
            : fact with
            {
                Host = AuditFacts.Host,
                Revision = revision.Id,
                Reason = fact.Reason is { } reason ? MaskedFlow.Clean(reason) : null,
            };

    /// <summary>The fact with as much of a message as is wanted there.</summary>
    public AuditFact Describe(AuditFact fact, EsbMessage content)
    {
        var policy = PolicyOf(fact.Endpoint, fact.Subject);
        var bodies = policy.Of(fact.Kind);
        if (bodies == AuditBodies.None)
            return fact;

        var masked = mask.Apply(content);
        var headers = masked.Message.Headers.Where(header => !EsbHeaders.IsDirect(header.Key)).ToDictionary(); // properties may be masked
        if (headers.Count > 0)
            fact = fact with { Headers = headers };
        if (bodies >= AuditBodies.Fields && policy.Fields.Count > 0)
            fact = fact with { Fields = Promote(fact, policy.Fields, masked) };
        return bodies == AuditBodies.Whole ? RecordedBody.Put(fact, content, masked, config.MaxBody.Bytes) : fact;
    }

    /// <summary>The fields of a message at an endpoint; those that cannot be read are left out.</summary>
    public Dictionary<string, string> FieldsOf(EsbMessage message, string endpoint)
    {
        var found = new Dictionary<string, string>();
        var fields = PolicyOf(endpoint, message.Subject.Length == 0 ? null : message.Subject).Fields;
        if (fields.Count == 0)
            return found;
        var (masked, context) = (mask.Apply(message), new MessageContext(message, endpoint));
        foreach (var field in fields.Where(field => !field.Value.ReadsBody || masked.Message.Body.IsBuffered))
        {
            try
            {
                foreach (var (name, value) in FieldReading.Evaluate([field], context, masked, static _ => { }))
                    found[name] = value;
            }
            catch (EsbException)
            {
                // The body is not what the field needs: the message has no such field.
            }
        }

        return found;
    }

    /// <summary>The fact with what an audit step asks for.</summary>
    /// <param name="fact">The fact.</param>
    /// <param name="context">The message as the step finds it.</param>
    /// <param name="fields">What is taken from it.</param>
    /// <param name="wantsBody">Whether its body is recorded.</param>
    /// <exception cref="EsbException">The body cannot be read as a field needs it.</exception>
    public AuditFact Describe(AuditFact fact, MessageContext context, IReadOnlyList<AuditField> fields, bool wantsBody)
    {
        if (fields.Count == 0 && !wantsBody)
            return fact;
        var masked = mask.Apply(context.Message);
        fact = fact with
        {
            Fields = FieldReading.Evaluate(
                fields,
                context,
                masked,
                field => _warnings.Missing(field, context.Received.Id, fact.Name!, context.Process)
            ),
        };
        return wantsBody ? RecordedBody.Put(fact, context.Message, masked, config.MaxBody.Bytes) : fact;
    }

    // An operator's tuning replaces how much is recorded, and nothing else of the policy.
    private AuditPolicy PolicyOf(string? endpoint, string? subject)
    {
        var policy = policies.Of(endpoint, subject);
        return endpoint is not null && tuned?.Of(endpoint).Audit is { } bodies && bodies != policy.Bodies
            ? policy with
            {
                Bodies = bodies,
            }
            : policy;
    }

    // What happened is recorded whatever the message holds: a field that cannot be read is left out.
    private Dictionary<string, string> Promote(AuditFact fact, IReadOnlyList<AuditField> fields, MaskedMessage masked)
    {
        var context = new MessageContext(masked.Message, fact.Endpoint ?? "");
        var promoted = new Dictionary<string, string>(fact.Fields);
        foreach (var field in fields)
        {
            try
            {
                if (field.Value.ReadsBody && !masked.Message.Body.IsBuffered)
                    Missing(field.Name);
                else
                    foreach (var (name, value) in FieldReading.Evaluate([field], context, masked, Missing))
                        promoted[name] = value;
            }
            catch (EsbException)
            {
                Missing(field.Name);
            }
        }

        return promoted;

        void Missing(string field) =>
            _warnings.Missing(field, fact.MessageId, fact.Kind.ToString().ToLowerInvariant(), fact.Endpoint ?? "");
    }
}
