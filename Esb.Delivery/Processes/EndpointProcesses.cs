using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Processes;

/// <summary>The message to send.</summary>
/// <param name="Message">The message, under the identity of the delivered one; <see cref="FilteredAnswer"/> if nothing is to be
/// sent.</param>
/// <param name="Spent">The part of the attempt's time that is already used.</param>
internal readonly record struct PreparedMessage(EsbMessage Message, TimeSpan Spent)
{
    public bool IsFiltered => FilteredAnswer.Is(Message);
}

/// <summary>The processes around an outbound endpoint: <c>process</c> creates the message to send, <c>reply</c> creates the answer
/// (pattern: Messaging Gateway). Thread-safe.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="process">Runs before an instance is rented; null if messages are sent unchanged.</param>
/// <param name="reply">Runs on answers that a caller waits for; null if they are returned unchanged.</param>
/// <param name="time">The clock of the time limits.</param>
internal sealed class EndpointProcesses(
    OutboundEndpointConfig config,
    DeliveredProcess? process,
    DeliveredProcess? reply,
    TimeProvider time
)
{
    /// <summary>True if a process runs on messages before they are sent.</summary>
    public bool Prepares => process is not null;

    /// <summary>The processes that an endpoint names, in a running bus.</summary>
    public static EndpointProcesses Of(OutboundEndpointConfig config, IServiceProvider services, TimeProvider time)
    {
        return new EndpointProcesses(config, Find(config.PreparedBy), Find(config.Reply), time);

        DeliveredProcess? Find(string? name) => name is null ? null : DeliveredProcess.Of(config.Name, name, services);
    }

    /// <summary>Runs <c>process</c>, if configured.</summary>
    /// <exception cref="EndpointException">The process failed or timed out; no other type is thrown except for cancellation.</exception>
    public ValueTask<PreparedMessage> PrepareAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken) =>
        process is null
            ? ValueTask.FromResult(new PreparedMessage(message, TimeSpan.Zero))
            : RunAsync(process, message, unitOfWork, cancellationToken);

    /// <summary>Runs <c>reply</c>, if configured, on an answer of the external system.</summary>
    /// <exception cref="EndpointException">The process failed or timed out. Not transient: the message was sent, and a retry would send it
    /// again.</exception>
    public ValueTask<EsbMessage?> ReplyAsync(
        EsbMessage message,
        EsbMessage? answer,
        IUnitOfWork? unitOfWork,
        CancellationToken cancellationToken
    ) =>
        reply is null || answer is null || FilteredAnswer.Is(answer) || DuplicateNotice.Read(answer) is not null
            ? ValueTask.FromResult(answer)
            : RunReplyAsync(reply, message, answer, unitOfWork, cancellationToken);

    private async ValueTask<PreparedMessage> RunAsync(
        DeliveredProcess process,
        EsbMessage message,
        IUnitOfWork? unitOfWork,
        CancellationToken cancellationToken
    )
    {
        var started = time.GetTimestamp();
        var prepared = await LimitAsync("process", limited => process.PrepareAsync(message, unitOfWork, limited), cancellationToken);
        return new PreparedMessage(prepared, time.GetElapsedTime(started));
    }

    private async ValueTask<EsbMessage?> RunReplyAsync(
        DeliveredProcess reply,
        EsbMessage message,
        EsbMessage answer,
        IUnitOfWork? unitOfWork,
        CancellationToken cancellationToken
    )
    {
        try
        {
            return await LimitAsync("reply", limited => reply.ReplyAsync(message, answer, unitOfWork, limited), cancellationToken);
        }
        catch (EndpointException ex)
        {
            throw new EndpointException(config.Name, ex.Code, ex.Message, isTransient: false, ex, ex.Kind)
            {
                Status = ex.Status,
                Detail = ex.Detail,
                Answer = ex.Answer,
                Step = ex.Step,
                RetryAfter = ex.RetryAfter,
                IsUnsent = true,
            };
        }
    }

    private async ValueTask<EsbMessage> LimitAsync(
        string setting,
        Func<CancellationToken, ValueTask<EsbMessage>> run,
        CancellationToken cancellationToken
    )
    {
        using var limit = new TimeLimit(config.Timeout, time, cancellationToken);
        try
        {
            return await run(limit.Token);
        }
        catch (OperationCanceledException ex) when (limit.IsOver)
        {
            var text = $"The {setting} of the endpoint '{config.Name}' took longer than {config.Timeout.TotalSeconds:0.###} s.";
            throw new EndpointException(config.Name, EndpointRental.TimeoutCode, text, isTransient: true, ex, FaultKind.Timeout)
            {
                IsUnsent = true,
            };
        }
    }
}
