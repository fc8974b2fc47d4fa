using System.Security.Cryptography;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Delivery.Replay.Audited;

/// <summary>Selects, among the facts of a message, the fact that holds the message as endpoints received it. Not thread-safe.</summary>
/// <param name="endpoint">The target endpoint.</param>
/// <param name="chosen">The fact that an operator chose; null for automatic selection.</param>
internal sealed class RecordedMessage(string endpoint, Guid? chosen)
{
    /// <summary>The field of a replayed fact that marks a replay from the audit and names the source fact.</summary>
    public const string SourceField = "replayed-fact";

    /// <summary>The field of a replayed fact that holds the client's name for the command.</summary>
    public const string CommandField = "command";

    private AuditFact? _source;
    private AuditFact? _first;
    private string? _subject;

    /// <summary>The last replay of the message to the endpoint; null if it was never replayed there.</summary>
    public AuditFact? Replay { get; private set; }

    /// <summary>The replays to the endpoint, by the client's name for the command.</summary>
    public Dictionary<string, AuditFact> Commands { get; } = [];

    /// <summary>Adds a fact of the message; the newest facts come first.</summary>
    public void Look(AuditFact fact)
    {
        _first = fact with { Body = null };
        _subject ??= fact.Subject;
        if (fact.Kind == AuditKind.Replayed && fact.Endpoint == endpoint)
        {
            Replay ??= _first;
            if (fact.Fields.TryGetValue(CommandField, out var command))
                Commands.TryAdd(command, _first);
        }

        if (RankOf(fact) > (_source is null ? 0 : RankOf(_source)))
            _source = fact;
    }

    /// <summary>The message, without an order key.</summary>
    /// <exception cref="EsbException"><c>ESB-RPL-STATE</c>: the message cannot be restored.</exception>
    public (EsbMessage Message, AuditFact Source) Get(Guid messageId)
    {
        if (_first is null)
            throw AuditReplayErrors.Unknown(messageId);
        if (_source is null)
            throw chosen is null
                ? AuditReplayErrors.Because(messageId, "its body was not recorded as it was published")
                : AuditReplayErrors.Because(messageId, $"it has no fact {chosen}");
        if (ReasonAgainst(_source) is { } reason)
            throw AuditReplayErrors.Because(messageId, reason);
        var message = new EsbMessage
        {
            Id = messageId,
            ConversationId = _source.ConversationId,
            CreatedAt = _first.Time,
            Subject = _source.Subject ?? _subject ?? "",
            ContentType = _source.ContentType,
            Party = _source.Party,
            Headers = _source.Headers is null ? MessageHeaders.Empty : MessageHeaders.From(_source.Headers),
            Body = MessageBody.FromBytes(_source.Body!.Value),
        };
        return (MessageHops.Set(message, hops: 0), _source);
    }

    // Endpoints receive a message as it was published or delivered. The received form is equal only without a process in between. Other
    // facts may hold an answer or an intermediate stage.
    private int RankOf(AuditFact fact)
    {
        if (chosen is not null)
            return fact.Id == chosen ? 1 : 0;
        var rank = fact switch
        {
            _ when StateOf(fact) is null => 0,
            { Kind: AuditKind.Published } => 5,
            { Kind: AuditKind.Delivered, Process: null } => 3,
            { Kind: AuditKind.Received, Process: null } => 1,
            _ => 0,
        };
        return rank > 0 && StateOf(fact) == AuditBodyState.Whole ? rank + 1 : rank;
    }

    // Older facts have no body state; their bodies are complete.
    private static AuditBodyState? StateOf(AuditFact fact) => fact.BodyState ?? (fact.Body is null ? null : AuditBodyState.Whole);

    private static string? ReasonAgainst(AuditFact source) =>
        source switch
        {
            { BodyState: null, Body: null } => "its body was not recorded there",
            { BodyState: AuditBodyState.Masked } => "a masked body cannot be replayed from audit",
            { BodyState: AuditBodyState.Truncated } =>
                $"only the first {source.Body?.Length ?? 0} of {source.BodyLength} bytes of its body were recorded",
            { BodyState: AuditBodyState.Erased } => "its body was erased",
            { BodyState: not (AuditBodyState.Whole or null) } => "its body was withheld from the audit",
            { Body: null } => "its body has expired",
            { BodyHash: { } hash, Body: { } body } when !SHA256.HashData(body.Span).AsSpan().SequenceEqual(hash.Span) =>
                "its recorded body is damaged: it does not fit its hash",
            _ => null,
        };
}
