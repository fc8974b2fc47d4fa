using System.Runtime.CompilerServices;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Idempotency;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Accepts the request as a message and answers with its result.</summary>
/// <param name="keyed">Processes keyed requests only once; null if keys are ignored.</param>
internal sealed class MessageExchange(ListeningEndpointConfig config, IMessageIntake intake, HttpMessageReader reader, KeyedRequests? keyed)
    : IHttpExchange
{
    private readonly HeaderRules _rules = new(config.Headers, new HeaderRewrite(config.RewriteAnswerHeaders));

    public async Task HandleAsync(HttpContext context, CancellationToken aborting)
    {
        var (message, key) = await ReadAsync(context);
        var answer = key is null
            ? (await ReceiveAsync(context, message, aborting)).Answer
            : await AnswerOnceAsync(key, context, message, aborting);
        await answer.WriteAsync(context);
    }

    private Task<HttpAnswer> AnswerOnceAsync(string key, HttpContext context, EsbMessage message, CancellationToken aborting) =>
        keyed!.AnswerAsync(key, message, () => ReceiveAsync(context, message, aborting).AsTask());

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<(HttpAnswer Answer, bool IsDurable)> ReceiveAsync(
        HttpContext context,
        EsbMessage message,
        CancellationToken aborting
    )
    {
        // A one-way message is complete and accepted, even if its sender disconnects. With a reply, the caller's disconnect cancels the
        // work.
        var isOneWay = config.Mode == ExchangePattern.OneWay;
        try
        {
            var result = await intake.ReceiveAsync(message, isOneWay ? aborting : context.RequestAborted);
            return (isOneWay ? HttpReplies.Accept(result) : HttpReplies.Reply(result, _rules), result.IsDurable);
        }
        // never repeat what can never be recorded
        catch (EsbException ex) when (ex is { IsTransient: true, Code: "ESB-TOPIC-UNKNOWN" or "ESB-AUD-UNRECORDED" })
        {
            var detail =
                $"Nobody can tell whether the message was taken; repeat the request with the same {IdempotencyHeader.Name}, so that "
                + $"it is not taken twice.";
            throw new EsbException("ESB-HTTP-UNKNOWN", detail, FaultKind.Unavailable, ex) { RetryAfter = ex.RetryAfter };
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<(EsbMessage Message, string? Key)> ReadAsync(HttpContext context)
    {
        var message = reader.ReadEnvelope(context.Request);
        try
        {
            var key = keyed is null ? null : IdempotencyHeader.Read(context.Request);
            if (key is not null)
                message = IdempotencyHeader.Identify(message, config.Name, key) with { IsAnswerKept = true };
            var correlation = HttpMessageReader.ReadCorrelation(context.Request);
            var headers = reader.ReadQuery(context.Request, message.Headers);
            var properties = reader.ReadProperties(context.Request);
            if (correlation is not null || properties is not null || headers != message.Headers)
                message = message with { CorrelationId = correlation, Headers = headers, Properties = properties };
            return (message with { Body = await reader.ReadBodyAsync(context) }, key);
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
        finally
        {
            context.Response.Headers[HttpFields.MessageId] = message.Id.ToString(); // also on failure: the audit uses this id
        }
    }
}
