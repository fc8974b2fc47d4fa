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

/// <summary>Runs a process on messages that were delivered to an outbound endpoint. Thread-safe.</summary>
/// <param name="endpoint">The endpoint.</param>
/// <param name="find">Finds the process of the revision in service.</param>
/// <param name="audit">Takes what its steps did.</param>
/// <param name="maxBodyBytes">The most bytes of an answer.</param>
/// <param name="time">The time.</param>
/// <param name="logger">Hears of failures that nobody foresaw.</param>
internal sealed partial class DeliveredProcess(
    string endpoint, Func<IMessageProcess> find, IAuditTrail audit, long maxBodyBytes, TimeProvider time, ILogger<DeliveredProcess> logger)
{
    private bool HasSteps => audit.WantsSteps(endpoint);

    private bool HasTransforms => audit.Wants(AuditKind.StepEnded, endpoint) != AuditBodies.None;

    /// <summary>A process of the running bus.</summary>
    /// <param name="endpoint">The endpoint that runs it.</param>
    /// <param name="process">Its name.</param>
    /// <param name="services">Of the bus. The process is found late: its steps may call endpoints, which are being made.</param>
    public static DeliveredProcess Of(string endpoint, string process, IServiceProvider services)
    {
        var processes = services.GetRequiredService<Live<IProcessCatalog>>();
        return new DeliveredProcess(
            endpoint,
            () => processes.Current.Find(process),
            services.GetRequiredService<IAuditTrail>(),
            services.GetRequiredService<Live<LimitsConfig>>().Current.MaxBodySize.Bytes,
            services.GetRequiredService<TimeProvider>(),
            services.GetRequiredService<ILogger<DeliveredProcess>>());
    }

    /// <summary>Runs the process on a message; the message at its end is the answer, or that nobody wants it
    /// (<see cref="FilteredAnswer"/>).</summary>
    /// <exception cref="EndpointException">The process failed; never another type but for cancellation.</exception>
    public ValueTask<EsbMessage> AnswerAsync(EsbMessage message, CancellationToken cancellationToken) =>
        RunAsync(message, unitOfWork: null, made => message.Reply(made.Body, time) with { ContentType = made.ContentType, Headers = made.Headers }, cancellationToken);

    /// <summary>Runs the process on a message; what it made is to be sent under the identity of the message, or nothing is
    /// (<see cref="FilteredAnswer"/>).</summary>
    /// <param name="message">The message.</param>
    /// <param name="unitOfWork">The transaction that what it publishes becomes a part of; null outside of one.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="EndpointException">The process failed; never another type but for cancellation.</exception>
    public ValueTask<EsbMessage> PrepareAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken) => RunAsync(
        message,
        unitOfWork,
        made => MessageHops.Set(message with { Body = made.Body, ContentType = made.ContentType, Headers = made.Headers.Without(EsbHeaders.Status) }, MessageHops.Of(message)),
        cancellationToken);

    /// <summary>Runs the process on the answer to a message; what it made is the answer, or one without a body where it filtered
    /// that.</summary>
    /// <inheritdoc cref="PrepareAsync"/>
    public async ValueTask<EsbMessage> ReplyAsync(EsbMessage message, EsbMessage answer, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        var shown = MessageHops.Set(answer with { Headers = answer.Headers.Without(EsbHeaders.Status) }, MessageHops.Of(message));
        var reply = await RunAsync(
            shown,
            unitOfWork,
            made => answer with { Body = made.Body, ContentType = made.ContentType, Headers = made.Headers },
            cancellationToken,
            answer.Headers[EsbHeaders.Status]);
        return FilteredAnswer.Is(reply) ? FilteredAnswer.ReplyTo(message, time) : reply;
    }

    private async ValueTask<EsbMessage> RunAsync(EsbMessage message, IUnitOfWork? unitOfWork, Func<EsbMessage, EsbMessage> result, CancellationToken cancellationToken, string? status = null)
    {
        var context = new MessageContext(Counted(message), endpoint) { IsDelivered = true, Steps = HasSteps ? new StepLog(time, HasTransforms) : null, UnitOfWork = unitOfWork };
        if (status is not null) context.SetProperty(MessageContext.StatusProperty, double.Parse(status, CultureInfo.InvariantCulture));
        MaskedFlow.Follow(audit.Mask, context);
        try
        {
            await find().RunAsync(context, cancellationToken);
            var made = context.Outcome == ProcessOutcome.Filtered ? FilteredAnswer.Instance : result(await MadeByAsync(context, cancellationToken));
            await RecordStepsAsync(context);
            return made;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            throw; // its time is up, or the host stops: the message comes again
        }
        catch (Exception ex)
        {
            var failure = FailureOf(ex, message, context);
            await RecordStepsAsync(context);
            throw failure;
        }
    }

    // Counted where it passes, so that what processes hand one another in a circle ends.
    private EsbMessage Counted(EsbMessage message)
    {
        var hops = MessageHops.Of(message);
        if (hops < MessageHops.Most) return MessageHops.Set(message, hops + 1);
        throw new EndpointException(endpoint, MessageHops.Code, $"The message has gone through the bus {hops} times: it is routed in a circle.", isTransient: false, kind: FaultKind.Internal)
        {
            Status = 508,
            IsUnsent = true,
        };
    }

    private async ValueTask<EsbMessage> MadeByAsync(MessageContext context, CancellationToken cancellationToken)
    {
        var (made, status) = (context.Message, ProcessStatus.Of(context));
        await made.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var headers = made.Headers.Without(EsbHeaders.Hops);
        return made with { Headers = status is { } code ? headers.With(EsbHeaders.Status, code.ToString(CultureInfo.InvariantCulture)) : headers };
    }

    // It says something about the message. Only where an endpoint that it calls is away, and nothing has been published yet, does every
    // message wait for that.
    private EndpointException FailureOf(Exception exception, EsbMessage message, MessageContext context)
    {
        if (exception is not EsbException) LogFailed(message.Id, endpoint, context.Process, exception);
        var failure = exception as EsbException ?? new EsbException("ESB-PROC-FAILED", "The process of the message failed.", FaultKind.Internal, exception);
        var isAway = failure is EndpointException { IsOutage: true } && context.FirstPublish is null;
        return new EndpointException(endpoint, failure.Code, MaskedFlow.Clean(failure.Message), failure.IsTransient, failure, failure.Kind)
        {
            RetryAfter = failure.RetryAfter,
            Status = failure.Status,
            Step = context.FailedStep,
            IsOutage = isAway,
            IsUnsent = !isAway,
        };
    }

    private Task RecordStepsAsync(MessageContext context) => context.Steps is { } steps
        ? Task.WhenAll(steps.Take().Select(step => RecordAsync(step).AsTask()))
        : Task.CompletedTask;

    private ValueTask RecordAsync(StepRecord step) => step.Content is { } content
        ? audit.RecordAsync(step.Fact, content, CancellationToken.None)
        : audit.RecordAsync(step.Fact, CancellationToken.None);

    [LoggerMessage(EventId = 2460, Level = LogLevel.Error, Message = "Message {MessageId} of {Endpoint} failed in {Process}")]
    private partial void LogFailed(Guid messageId, string endpoint, string process, Exception exception);
}
