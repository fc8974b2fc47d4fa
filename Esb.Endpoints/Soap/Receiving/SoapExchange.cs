using Esb.Content.Xml;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Esb.Endpoints.Soap.Envelopes;
using Esb.Endpoints.Soap.Security;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>Accepts the child of Body as a message, and answers with its result in an envelope of the caller's version.</summary>
/// <param name="gate">Identifies callers by the header of WS-Security; null if they prove who they are in another way, or need not.</param>
/// <param name="refusals">Records what never becomes the message of an operation.</param>
internal sealed class SoapExchange(
    SoapInboundConfig config,
    SoapRequestReader requests,
    WsdlAnswers documents,
    TokenGate? gate,
    IMessageIntake refusals,
    XmlInput xml
) : IHttpExchange
{
    private static readonly HttpAnswer Accepted = new(StatusCodes.Status202Accepted, null, [], null);

    private readonly HeaderRules _rules = new(config.Headers, new HeaderRewrite(config.RewriteAnswerHeaders));

    public async Task HandleAsync(HttpContext context, CancellationToken aborting)
    {
        if (!HttpMethods.IsPost(context.Request.Method))
        {
            await documents.WriteAsync(context, aborting);
            return;
        }

        var request = await ReadAsync(context);
        // A one-way message is complete and accepted, even if its sender disconnects.
        var result = await request.Route.Intake.ReceiveAsync(request.Message, request.Route.IsOneWay ? aborting : context.RequestAborted);
        await AnswerOf(request, result).WriteAsync(context);
    }

    private async Task<SoapRequest> ReadAsync(HttpContext context)
    {
        var message = requests.ReadHead(context.Request);
        context.Response.Headers[HttpFields.MessageId] = message.Id.ToString(); // also on failure: the audit uses this id
        var envelope = await RecordedAsync(message, () => requests.ReadEnvelopeAsync(context));
        if (gate is not null)
            message = message with { Party = await gate.AdmitAsync(context, envelope) }; // strangers learn nothing of operations
        return await RecordedAsync(message, () => Task.FromResult(requests.Complete(context.Request, message, envelope)));
    }

    private async Task<TRead> RecordedAsync<TRead>(EsbMessage message, Func<Task<TRead>> read)
    {
        try
        {
            return await read();
        }
        catch (EsbException ex) when (ex.Code == HttpContentRules.Aborted)
        {
            await refusals.AbortAsync(message, ex.Code, ex.Message, CancellationToken.None);
            throw;
        }
        catch (EsbException ex)
        {
            await refusals.RefuseAsync(message, ex.Code, ex.Message, CancellationToken.None);
            throw;
        }
    }

    private HttpAnswer AnswerOf(SoapRequest request, IntakeResult result)
    {
        if (request.Route.IsOneWay || result.Reply is not { } reply)
            return Accepted; // a filter ended it
        if (SoapStatus.IsFailure(result.Status))
            throw FailureOf(result.Status!.Value, reply);
        var version = request.Envelope.Version;
        var envelope = EnvelopeWriter.Write(
            version,
            Addressing.HeadersOf(request.Envelope, request.Route.Operation, xml),
            reply.Body.Bytes.Span
        );
        return new HttpAnswer(
            StatusCodes.Status200OK,
            version.ContentType,
            HttpFields.Outgoing(reply, _rules),
            MessageBody.FromBytes(envelope)
        );
    }

    // What the process answers with such a status stands in the detail.
    private static EsbException FailureOf(int status, EsbMessage reply) =>
        new("ESB-SOAP-STATUS", $"The service answers with status {status}.", status < 500 ? FaultKind.Invalid : FaultKind.Internal)
        {
            Status = status,
            CallerDetail = reply.Body.Length is > 0 and < 64 * 1024 ? reply.Body.ReadText() : null,
        };
}
