using System.Globalization;
using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Processes;

/// <summary>Runs a process on messages delivered to an outbound endpoint. Thread-safe.</summary>
/// <param name="endpoint">The endpoint.</param>
/// <param name="find">Finds the process of the active revision.</param>
/// <param name="audit">Records the steps.</param>
/// <param name="maxBodyBytes">The maximum size of an answer in bytes.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">Logs unexpected failures.</param>
internal sealed partial class DeliveredProcess(
    string endpoint,
    Func<IMessageProcess> find,
    IAuditTrail audit,
    long maxBodyBytes,
    TimeProvider time,
    ILogger<DeliveredProcess> logger
)
{
    private bool HasSteps => audit.WantsSteps(endpoint);

    private bool HasTransforms => audit.Wants(AuditKind.StepEnded, endpoint) != AuditBodies.None;

    /// <summary>A process of the running bus.</summary>
    /// <param name="endpoint">The endpoint that runs it.</param>
    /// <param name="process">The name of the process.</param>
    /// <param name="services">The services of the bus. The process is resolved late, because its steps may call endpoints that are still
    /// being created.</param>
    public static DeliveredProcess Of(string endpoint, string process, IServiceProvider services)
    {
        var processes = services.GetRequiredService<Live<IProcessCatalog>>();
        return Of(endpoint, () => processes.Current.Find(process), services);
    }

    /// <summary>Steps of the running bus.</summary>
    /// <param name="endpoint">The endpoint that runs them.</param>
    /// <param name="find">Finds the steps of the active revision.</param>
    /// <param name="services">The services of the bus.</param>
    public static DeliveredProcess Of(string endpoint, Func<IMessageProcess> find, IServiceProvider services)
    {
        return new DeliveredProcess(
            endpoint,
            find,
            services.GetRequiredService<IAuditTrail>(),
            services.GetRequiredService<Live<LimitsConfig>>().Current.MaxBodySize.Bytes,
            services.GetRequiredService<TimeProvider>(),
            services.GetRequiredService<ILogger<DeliveredProcess>>()
        );
    }

    /// <summary>Runs the process on a message; the final message is the answer, or <see cref="FilteredAnswer"/> if the process filtered the
    /// message out.</summary>
    /// <exception cref="EndpointException">The process failed; no other type is thrown except for cancellation.</exception>
    public ValueTask<EsbMessage> AnswerAsync(EsbMessage message, CancellationToken cancellationToken) =>
        RunAsync(
            message,
            unitOfWork: null,
            made => message.Reply(made.Body, time) with { ContentType = made.ContentType, Headers = made.Headers },
            cancellationToken
        );

    /// <summary>Runs the process on a message; the result is sent under the identity of the original message, unless the process filtered
    /// it out (<see cref="FilteredAnswer"/>).</summary>
    /// <param name="message">The message.</param>
    /// <param name="unitOfWork">The transaction that includes the published messages; null outside a transaction.</param>
    /// <param name="cancellationToken">Cancels the process.</param>
    /// <exception cref="EndpointException">The process failed; no other type is thrown except for cancellation.</exception>
    public ValueTask<EsbMessage> PrepareAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken) =>
        RunAsync(
            message,
            unitOfWork,
            made =>
                MessageHops.Set(
                    message with
                    {
                        Body = made.Body,
                        ContentType = made.ContentType,
                        Headers = made.Headers.Without(EsbHeaders.Status),
                        Properties = made.Properties,
                    },
                    MessageHops.Of(message)
                ),
            cancellationToken
        );

    /// <summary>Runs the process on the answer to a message; the result is the answer, or an answer without a body if the process filtered
    /// it out.</summary>
    /// <inheritdoc cref="PrepareAsync"/>
    public async ValueTask<EsbMessage> ReplyAsync(
        EsbMessage message,
        EsbMessage answer,
        IUnitOfWork? unitOfWork,
        CancellationToken cancellationToken
    )
    {
        var shown = MessageHops.Set(answer with { Headers = answer.Headers.Without(EsbHeaders.Status) }, MessageHops.Of(message));
        var reply = await RunAsync(
            shown,
            unitOfWork,
            made => answer with { Body = made.Body, ContentType = made.ContentType, Headers = made.Headers },
            cancellationToken,
            answer.Headers[EsbHeaders.Status],
            message.Id
        );
        return FilteredAnswer.Is(reply) ? FilteredAnswer.ReplyTo(message, time) : reply;
    }

    private async ValueTask<EsbMessage> RunAsync(
        EsbMessage message,
        IUnitOfWork? unitOfWork,
        Func<EsbMessage, EsbMessage> result,
        CancellationToken cancellationToken,
        string? status = null,
        Guid? numbered = null
    )
    {
        var context = new MessageContext(Counted(message), endpoint)
        {
            IsDelivered = true,
            NumberedId = numbered ?? message.Id,
            Steps = HasSteps ? new StepLog(time, HasTransforms) : null,
            UnitOfWork = unitOfWork,
        };
        if (status is not null)
            context.SetProperty(MessageContext.StatusProperty, double.Parse(status, CultureInfo.InvariantCulture));
        MaskedFlow.Follow(audit.Mask, context);
        try
        {
            await find().RunAsync(context, cancellationToken);
            var made =
                context.Outcome == ProcessOutcome.Filtered
                    ? FilteredAnswer.Instance
                    : result(await MadeByAsync(context, cancellationToken));
            await RecordStepsAsync(context);
            return made;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            throw; // time-out or shutdown: the message is redelivered
        }
        catch (Exception ex)
        {
            var failure = FailureOf(ex, message, context);
            await RecordStepsAsync(context);
            throw failure;
        }
    }

    // Counts the hop here, so that processes that pass messages in a circle end.
    private EsbMessage Counted(EsbMessage message)
    {
        var hops = MessageHops.Of(message);
        if (hops < MessageHops.Most)
            return MessageHops.Set(message, hops + 1);
        throw new EndpointException(
            endpoint,
            MessageHops.Code,
            $"The message has gone through the bus {hops} times: it is routed in a circle.",
            isTransient: false,
            kind: FaultKind.Internal
        )
        {
            Status = 508,
            IsUnsent = true,
        };
    }

    private async ValueTask<EsbMessage> MadeByAsync(MessageContext context, CancellationToken cancellationToken)
    {
        var (made, status) = (context.WithProperties(context.Message), ProcessStatus.Of(context));
        await made.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var headers = made.Headers.Without(EsbHeaders.Hops);
        return made with { Headers = ProcessStatus.On(headers, status) };
    }

    // The failure concerns the message. It delays every message only if a called endpoint is unreachable and nothing has been published
    // yet.
    private EndpointException FailureOf(Exception exception, EsbMessage message, MessageContext context)
    {
        if (exception is not EsbException)
            LogFailed(message.Id, endpoint, context.Process, exception);
        var failure =
            exception as EsbException
            ?? new EsbException("ESB-PROC-FAILED", "The process of the message failed.", FaultKind.Internal, exception);
        var isAway = failure is EndpointException { IsOutage: true } && context.FirstPublish is null;
        return new EndpointException(endpoint, failure.Code, MaskedFlow.Clean(failure.Message), failure.IsTransient, failure, failure.Kind)
        {
            RetryAfter = failure.RetryAfter,
            Status = failure.Status,
            Detail = failure.Detail,
            Answer = failure.Answer,
            CallAnswer = failure.CallAnswer,
            Step = context.FailedStep,
            IsOutage = isAway,
            IsUnsent = !isAway,
        };
    }

    private Task RecordStepsAsync(MessageContext context) =>
        context.Steps is { } steps ? Task.WhenAll(steps.Take().Select(step => RecordAsync(step).AsTask())) : Task.CompletedTask;

    private ValueTask RecordAsync(StepRecord step) =>
        step.Content is { } content
            ? audit.RecordAsync(step.Fact, content, CancellationToken.None)
            : audit.RecordAsync(step.Fact, CancellationToken.None);

    [LoggerMessage(EventId = 2460, Level = LogLevel.Error, Message = "Message {MessageId} of {Endpoint} failed in {Process}")]
    private partial void LogFailed(Guid messageId, string endpoint, string process, Exception exception);
}
