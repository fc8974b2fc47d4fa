using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http;

/// <summary>Takes the request in as a message and answers with what became of it.</summary>
internal sealed class MessageExchange(HttpInboundConfig config, IMessageIntake intake, HttpMessageReader reader) : IHttpExchange
{
    private readonly HeaderRules _rules = new(config.Headers);

    public async Task HandleAsync(HttpContext context, CancellationToken aborting)
    {
        var message = await ReadAsync(context);

        // In one-way the message is whole and ours now, whatever becomes of its sender; an answer that nobody waits for need not be made.
        var isOneWay = config.Mode == ExchangePattern.OneWay;
        var result = await ReceiveAsync(message, isOneWay ? aborting : context.RequestAborted);
        if (isOneWay) await HttpReplies.AcceptAsync(context, result);
        else await HttpReplies.ReplyAsync(context, result, _rules);
    }

    private async ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        try
        {
            return await intake.ReceiveAsync(message, cancellationToken);
        }
        catch (EsbException ex) when (ex.Code == "ESB-TOPIC-UNKNOWN")
        {
            var detail = "Nobody can tell whether the message was taken; repeat the request with the same Idempotency-Key, so that it is not taken twice.";
            throw new EsbException("ESB-HTTP-UNKNOWN", detail, FaultKind.Unavailable, ex) { RetryAfter = ex.RetryAfter };
        }
    }

    private async Task<EsbMessage> ReadAsync(HttpContext context)
    {
        var message = reader.ReadEnvelope(context.Request);
        context.Response.Headers[HttpFields.MessageId] = message.Id.ToString(); // also when it fails: audit knows it by this
        try
        {
            message = message with { CorrelationId = HttpMessageReader.ReadCorrelation(context.Request) };
            return message with { Body = await reader.ReadBodyAsync(context) };
        }
        catch (EsbException ex) when (ex.Code == HttpContentRules.Aborted)
        {
            await intake.AbortAsync(message, ex.Code, ex.Message, CancellationToken.None);
            throw;
        }
        catch (EsbException ex)
        {
            await intake.RefuseAsync(message, ex.Code, ex.Message, CancellationToken.None);
            throw;
        }
    }
}
