using Esb.Core.Audit;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Spooling;

/// <summary>Puts aside facts that their store refuses permanently: on the local disk, counted, and each logged, for an operator to inspect.
/// Thread-safe.</summary>
internal sealed partial class RefusedFacts(ILogger<RefusedFacts> logger)
{
    /// <summary>Puts a fact aside; durable when it returns.</summary>
    /// <exception cref="EsbException"><c>ESB-AUD-WRITE</c>: it could not be written.</exception>
    public async Task KeepAsync(IAuditSpool spool, AuditFact fact, EsbException refusal, CancellationToken cancellationToken)
    {
        await spool.QuarantineAsync(fact, cancellationToken);
        AuditTelemetry.Refused.Add(1);
        LogRefused(refusal, refusal.Code, fact.Id, fact.Kind, fact.MessageId);
    }

    [LoggerMessage(
        EventId = 4003,
        Level = LogLevel.Error,
        Message = "{Code}: the store refuses audit fact {FactId}, {Kind}, of message {MessageId}; it is kept in the spool's folder refused"
    )]
    private partial void LogRefused(Exception exception, string code, Guid factId, AuditKind kind, Guid messageId);
}
