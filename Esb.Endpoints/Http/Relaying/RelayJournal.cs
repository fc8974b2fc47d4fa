using Esb.Core.Audit;
using Esb.Endpoints.Http.Idempotency;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Opens the record of each request that an endpoint relays. Thread-safe.</summary>
/// <param name="config">The inbound endpoint.</param>
/// <param name="reader">Makes of a request the message that is recorded of it, without its body.</param>
/// <param name="audit">Takes the facts.</param>
/// <param name="time">The time.</param>
/// <param name="logger">The log.</param>
internal sealed class RelayJournal(HttpInboundConfig config, HttpMessageReader reader, IAuditTrail audit, TimeProvider time, ILogger<RelayRecord> logger)
{
    /// <summary>Opens the record of a request. Its id is told to the caller with the answer, whatever that is; from here on the log hides what is masked in the request.</summary>
    public RelayRecord Open(HttpContext context)
    {
        var message = reader.ReadEnvelope(context.Request);
        if (config.Idempotency && IdempotencyHeader.Find(context.Request) is { } key) message = IdempotencyHeader.Identify(message, config.Name, key);
        MaskedFlow.Follow(audit.Mask, message);

        // Last of all: a relay that fails begins its answer anew.
        context.Response.OnStarting(
            static state =>
            {
                var (response, id) = ((HttpResponse, string))state;
                response.Headers[HttpFields.MessageId] = id;
                return Task.CompletedTask;
            },
            (context.Response, message.Id.ToString()));
        return new RelayRecord(config, context.Request.Method, message, audit, time, logger);
    }
}
