using System.Globalization;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Delivery.Intake;
using Esb.Endpoints.Http.Receiving;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Records a request and its outcome. Not thread-safe: it belongs to one request.</summary>
/// <param name="config">The inbound endpoint.</param>
/// <param name="method">The method of the request.</param>
/// <param name="message">The request without its body, which a relay does not hold.</param>
/// <param name="journal">Knows whether requests can be recorded.</param>
/// <param name="audit">The audit trail.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">The log.</param>
internal sealed partial class RelayRecord(
    HttpInboundConfig config,
    string method,
    EsbMessage message,
    RelayJournal journal,
    IAuditTrail audit,
    TimeProvider time,
    ILogger logger
) : IRelayWitness
{
    private readonly long _started = time.GetTimestamp();
    private string? _outside;
    private AuditFact? _received;
    private bool _cannotRecord;

    /// <summary>The request without its body.</summary>
    public EsbMessage Message => message;

    /// <summary>Notes the receipt of the request: it is recorded with the answer, in one record. Where each fact has to be durable first,
    /// and after a recording failure, it is recorded now, and the request may be forwarded only afterwards.</summary>
    /// <param name="outside">The outbound endpoint to relay to.</param>
    /// <exception cref="EsbException"><c>ESB-AUD-WRITE</c>: the request cannot be recorded.</exception>
    public async ValueTask ReceivedAsync(string outside)
    {
        var fields = new Dictionary<string, string>(3)
        {
            [RelayFields.Method] = method,
            [RelayFields.Path] = config.RequestPath,
            [RelayFields.RelayedTo] = outside,
        };
        var fact = Fact(AuditKind.Received, fields);
        if (journal.RecordsFirst)
        {
            _cannotRecord = true;
            await audit.RecordAsync(fact, message, CancellationToken.None);
            _cannotRecord = false;
            journal.Tell(canRecord: true);
        }
        else
        {
            _received = fact;
        }

        _outside = outside;
    }

    /// <summary>Records the answer before the caller has its end: a relay holds no answer back, so a failure is only logged.</summary>
    public ValueTask EndingAsync(int status)
    {
        var fields = new Dictionary<string, string>(2)
        {
            [RelayFields.RelayedTo] = _outside!,
            [RelayFields.Status] = status.ToString(CultureInfo.InvariantCulture),
        };
        return EndAsync(Fact(AuditKind.Replied, fields, time.GetElapsedTime(_started)), content: null);
    }

    /// <summary>Records that no complete answer was sent.</summary>
    /// <param name="outcome">One of <see cref="IntakeOutcomes"/>.</param>
    /// <param name="failure">The cause.</param>
    public ValueTask FailedAsync(string outcome, Exception failure)
    {
        if (_cannotRecord)
            return ValueTask.CompletedTask; // an unrecorded request was not forwarded; the caller gets that failure
        var (code, reason) = Explain(outcome, failure);
        var fact = Fact(KindOf(outcome)) with { Code = code, Reason = reason };
        return EndAsync(
            _outside is { } outside ? fact with { Fields = new Dictionary<string, string> { [RelayFields.RelayedTo] = outside } } : fact,
            message
        );
    }

    // The caller gets its result, even if the outcome cannot be recorded.
    private async ValueTask EndAsync(AuditFact fact, EsbMessage? content)
    {
        try
        {
            var received = _received;
            _received = null;
            AuditRecord[] records = received is null ? [new(fact, content)] : [new(received, message), new(fact, content)];
            await audit.RecordAsync(records, AuditDurability.Written, CancellationToken.None);
            journal.Tell(canRecord: true);
        }
        catch (EsbException ex)
        {
            journal.Tell(canRecord: false);
            LogNotRecorded(message.Id, config.Name, fact.Kind, ex);
        }
    }

    // A request that was not received can only be refused.
    private AuditKind KindOf(string outcome) =>
        outcome switch
        {
            IntakeOutcomes.Aborted => AuditKind.Aborted,
            IntakeOutcomes.Failed when _outside is not null => AuditKind.Failed,
            _ => AuditKind.Refused,
        };

    private static (string Code, string Reason) Explain(string outcome, Exception failure) =>
        failure switch
        {
            EsbException known => (known.Code, FailureReport.Of(known)),
            _ when outcome == IntakeOutcomes.Aborted => (
                "ESB-INTAKE-ABORTED",
                "The caller hung up, or the host stopped, before the answer was complete."
            ),
            _ => ("ESB-HTTP-FAILED", "The request could not be worked on."),
        };

    private AuditFact Fact(AuditKind kind, Dictionary<string, string>? fields = null, TimeSpan? duration = null) =>
        AuditFacts.Of(message, kind, time, config.Name, duration: duration, fields: fields, revision: audit.Revision);

    [LoggerMessage(
        EventId = 2140,
        Level = LogLevel.Warning,
        Message = "How the relay of message {MessageId} of {Endpoint} ended ({Kind}) could not be recorded"
    )]
    private partial void LogNotRecorded(Guid messageId, string endpoint, AuditKind kind, Exception exception);
}
