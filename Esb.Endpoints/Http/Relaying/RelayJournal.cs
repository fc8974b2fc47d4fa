using Esb.Core.Audit;
using Esb.Endpoints.Http.Idempotency;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Opens the audit record of each request that an endpoint relays. Thread-safe.</summary>
/// <param name="config">The inbound endpoint.</param>
/// <param name="reader">Creates the message recorded for a request, without its body.</param>
/// <param name="audit">The audit trail.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">The log.</param>
internal sealed class RelayJournal(
    HttpInboundConfig config,
    HttpMessageReader reader,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<RelayRecord> logger
)
{
    private volatile bool _cannotRecord;

    /// <summary>True if a request must be recorded before it is forwarded: its facts have to be durable first, or the last ones could not
    /// be recorded.</summary>
    public bool RecordsFirst => _cannotRecord || audit.RecordsFirst(config.Name);

    /// <summary>Remembers whether facts could be recorded.</summary>
    public void Tell(bool canRecord)
    {
        if (_cannotRecord == canRecord)
            _cannotRecord = !canRecord;
    }

    /// <summary>Opens the record of a request. Every answer to the caller carries its id; from here on the log hides the masked values of
    /// the request.</summary>
    public RelayRecord Open(HttpContext context)
    {
        var message = reader.ReadEnvelope(context.Request);
        if (config.Idempotency && IdempotencyHeader.Find(context.Request) is { } key)
            message = IdempotencyHeader.Identify(message, config.Name, key);
        MaskedFlow.Follow(audit.Mask, message);

        // Runs last: a relay that fails starts its answer anew.
        context.Response.OnStarting(
            static state =>
            {
                var (response, id) = ((HttpResponse, string))state;
                response.Headers[HttpFields.MessageId] = id;
                return Task.CompletedTask;
            },
            (context.Response, message.Id.ToString())
        );
        return new RelayRecord(config, context.Request.Method, message, this, audit, time, logger);
    }
}
