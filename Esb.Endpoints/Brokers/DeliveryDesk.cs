using Esb.Core.Brokers;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Overload;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Brokers;

/// <summary>Hands deliveries of a broker over to the bus, and decides what becomes of each. Thread-safe.</summary>
/// <remarks>A delivery is acknowledged once its message is confirmed and recorded, once it is a dead letter, or once it is answered. A
/// crash before the acknowledgement therefore loses nothing, and may hand a message over again, under the same id.</remarks>
/// <param name="config">The endpoint.</param>
/// <param name="format">Reads the deliveries.</param>
/// <param name="intake">Takes the messages over.</param>
/// <param name="answers">Sends answers; null if the endpoint gives none.</param>
/// <param name="admission">Controls the time and the concurrency of the work.</param>
/// <param name="letters">Keep the deliveries that cannot become messages, or whose process fails.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">The log.</param>
internal sealed partial class DeliveryDesk(
    InboundEndpointConfig config,
    IDeliveryFormat format,
    IMessageIntake intake,
    AnswerSender? answers,
    Admission admission,
    IDeadLetterChannel letters,
    TimeProvider time,
    ILogger<DeliveryDesk> logger
)
{
    private const string Unforeseen = "ESB-INTERNAL";

    // What waits for longer returns to the queue, where other hosts and operators see it.
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(2);

    /// <summary>Waits until deliveries would be admitted.</summary>
    public async ValueTask WaitForOpeningAsync(CancellationToken cancellationToken)
    {
        await admission.WaitAsync(cancellationToken);
        admission.Leave();
    }

    /// <summary>Handles a delivery; does not throw.</summary>
    /// <param name="delivery">The delivery.</param>
    /// <param name="cancellationToken">Cancelled when the outcome does not matter any more: it is delivered again.</param>
    public async ValueTask<DeliveryVerdict> HandleAsync(QueueDelivery delivery, CancellationToken cancellationToken)
    {
        if (!await TryEnterAsync(cancellationToken))
            return DeliveryVerdict.Rest;
        IncomingDelivery? incoming = null;
        try
        {
            Task settled;
            try
            {
                incoming = format.Read(delivery.Message);
                using var span = BrokerSpan.Start(config.Name, incoming);
                settled = await TakeAsync(incoming, cancellationToken);
            }
            finally
            {
                admission.Leave();
            }

            await settled.WaitAsync(cancellationToken);
            return DeliveryVerdict.Done;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            return DeliveryVerdict.Rest;
        }
        catch (Exception ex) when (ex is OperationCanceledException or EsbException { IsTransient: true })
        {
            if (delivery.Failures == 0)
                LogWaits(ex, (ex as EsbException)?.Code ?? Unforeseen, incoming?.Message.Id ?? Guid.Empty, config.Name);
            return DeliveryVerdict.Again;
        }
        catch (Exception ex)
        {
            return await GiveUpAsync(incoming?.Message ?? Unread(delivery.Message), ex, cancellationToken);
        }
    }

    // Returns a task that completes when the message has arrived.
    private async ValueTask<Task> TakeAsync(IncomingDelivery incoming, CancellationToken cancellationToken)
    {
        if (incoming.Refusal is { } refusal)
            await RefuseAsync(incoming.Message, refusal, cancellationToken);
        if (incoming.AnswerWay is { } way && answers is not null)
            return await AnswerAsync(incoming.Message, way, cancellationToken);
        return (await intake.ReceiveAsync(incoming.Message, cancellationToken)).Settled;
    }

    private async Task<Task> AnswerAsync(EsbMessage request, IAnswerWay way, CancellationToken cancellationToken)
    {
        try
        {
            await way.CheckAsync(cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            await RefuseAsync(request, ex, cancellationToken);
        }

        await answers!.SendAsync(await RunAsync(request, way, cancellationToken), request.Id, cancellationToken);
        return Task.CompletedTask;
    }

    private async Task<BrokerMessage> RunAsync(EsbMessage request, IAnswerWay way, CancellationToken cancellationToken)
    {
        try
        {
            var result = await intake.ReceiveAsync(request, cancellationToken);
            if (result.Reply is not { } reply)
                return way.Fault(
                    new EsbException("ESB-REQUEST-FILTERED", "The request was filtered, and has no answer.", FaultKind.Invalid)
                );
            if (result.Status is >= 400 and var status)
                return way.Fault(
                    new EsbException("ESB-REQUEST-STATUS", $"The request was answered with the status {status}.", FaultKind.Invalid)
                    {
                        Status = status,
                    }
                );
            return await way.AnswerAsync(reply, cancellationToken);
        }
        catch (EsbException ex)
        {
            return way.Fault(ex);
        }
    }

    private async Task RefuseAsync(EsbMessage message, EsbException refusal, CancellationToken cancellationToken)
    {
        await intake.RefuseAsync(message, refusal.Code, refusal.Message, cancellationToken);
        throw refusal;
    }

    private async Task<DeliveryVerdict> GiveUpAsync(EsbMessage message, Exception cause, CancellationToken cancellationToken)
    {
        var (code, reason) = cause is EsbException known
            ? (known.Code, known.Message)
            : (Unforeseen, "The delivery could not be handled; the log of the host says why.");
        try
        {
            if (cause is not EsbException)
                LogFailed(cause, message.Id, config.Name);
            var now = time.GetUtcNow();
            await letters.KeepAsync(
                new DeadLetter(
                    message,
                    config.Name,
                    code,
                    FailedAttempts.Cut(reason, DeadLetter.MaxReasonLength),
                    ExceptionType: null,
                    Attempts: 1,
                    now,
                    now
                ),
                cancellationToken
            );
            return DeliveryVerdict.Done;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            return DeliveryVerdict.Rest;
        }
        catch (Exception ex)
        {
            LogNotKept(ex, code, message.Id, config.Name);
            return DeliveryVerdict.Again;
        }
    }

    private async ValueTask<bool> TryEnterAsync(CancellationToken cancellationToken)
    {
        using var patience = new CancellationTokenSource(LongestWait, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        try
        {
            await admission.WaitAsync(either.Token);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    private EsbMessage Unread(BrokerMessage delivery) =>
        EsbMessage.Create(MessageBody.FromBytes(delivery.Body), time) with
        {
            ContentType = delivery.ContentType,
        };

    [LoggerMessage(
        EventId = 2301,
        Level = LogLevel.Warning,
        Message = "{Code}: message {MessageId} of {Endpoint} was not accepted; it stays in its queue and is tried again"
    )]
    private partial void LogWaits(Exception cause, string code, Guid messageId, string endpoint);

    [LoggerMessage(EventId = 2302, Level = LogLevel.Error, Message = "ESB-INTERNAL: message {MessageId} of {Endpoint} failed")]
    private partial void LogFailed(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2303,
        Level = LogLevel.Warning,
        Message = "{Code}: message {MessageId} of {Endpoint} cannot be kept as a dead letter; it stays in its queue and is tried again"
    )]
    private partial void LogNotKept(Exception cause, string code, Guid messageId, string endpoint);
}
