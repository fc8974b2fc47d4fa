using System.Diagnostics;
using System.Globalization;
using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Topics.Publishing;

/// <inheritdoc cref="ITopicPublisher"/>
/// <remarks>Inside a transaction a message is only prepared; the outbox of the database publishes it through the same path.</remarks>
internal sealed class TopicPublisher(
    ITopicTransport transport,
    Live<ITopicKeys> keys,
    Live<ITopicSchemas> schemas,
    IAuditTrail audit,
    Live<LimitsConfig> limits,
    TimeProvider time,
    IClaimCheckStore claims
) : ITopicPublisher, IOutgoingPublisher
{
    private readonly OrderedPublisher _publisher = new(transport, time);

    public async ValueTask PublishAsync(MessageContext context, Subject subject, string step, CancellationToken cancellationToken)
    {
        var outgoing = await PrepareAsync(context, subject, context.NextPublishId(step), step, cancellationToken);
        if (context.UnitOfWork is { } transaction)
        {
            transaction.Publish(outgoing);
            context.NotePublished(new FirstPublish(subject.Topic, ConfirmedAt: null));
            return;
        }

        if (context.Outbox is { } outbox)
        {
            outbox.Publish(outgoing);
            context.NotePublished(new FirstPublish(subject.Topic, ConfirmedAt: null));
            return;
        }

        var (settled, confirmedAt) = await ConfirmAsync(outgoing, cancellationToken);
        context.NotePublished(new FirstPublish(subject.Topic, confirmedAt));
        context.AwaitSettled(settled);
    }

    public ValueTask<OutgoingMessage> CopyAsync(
        MessageContext context,
        Subject subject,
        string step,
        CancellationToken cancellationToken
    ) => PrepareAsync(context, subject, context.NextCopyId(step), step, cancellationToken);

    public async Task<Task> PublishAsync(OutgoingMessage outgoing, CancellationToken cancellationToken)
    {
        if (outgoing.ReplyUntil is not { } until || until > time.GetUtcNow())
            return (await ConfirmAsync(outgoing, cancellationToken)).Settled;
        await RecordAsync([RecordOf(outgoing, AuditKind.Expired, outgoing.Message, duration: null, fault: null)], AuditDurability.Flushed);
        return Task.CompletedTask; // the requester has stopped waiting
    }

    public async ValueTask RequestAsync(
        MessageContext context,
        Subject subject,
        TimeSpan timeout,
        string step,
        CancellationToken cancellationToken
    )
    {
        var outgoing = await PrepareAsync(context, subject, context.NextPublishId(step), step, cancellationToken);
        var request = outgoing.Message;
        var started = time.GetTimestamp();
        using var activity = TopicsTelemetry.StartSend(request, transport.System, outgoing.Parent);
        var recordsFirst = audit.RecordsFirst(outgoing.Endpoint);
        AuditRecord? sent = null;
        var recorded = Task.CompletedTask;
        EsbMessage reply;
        try
        {
            reply = await ObserveAsync(
                request,
                activity,
                async () =>
                {
                    var pending = await _publisher.SendRequestAsync(request, timeout, cancellationToken);
                    sent = RecordOf(outgoing, AuditKind.Published, request, duration: null, fault: null);
                    if (recordsFirst)
                        recorded = RecordAsync([sent.Value], AuditDurability.Flushed);
                    return await pending;
                }
            );
        }
        catch
        {
            // a confirmed request counts as published, even if its reply fails
            await (recordsFirst || sent is null ? recorded : RecordAsync([sent.Value], AuditDurability.Written));
            throw;
        }

        var fault = FaultReply.Read(reply);
        var answered = RecordOf(outgoing, AuditKind.Replied, reply, time.GetElapsedTime(started), fault);
        if (recordsFirst)
            await Task.WhenAll(recorded, RecordAsync([answered], AuditDurability.Flushed));
        else
            await RecordAsync([sent!.Value, answered], AuditDurability.Written);
        if (fault is not null)
            throw fault;
        ProcessStatus.TakeOver(context, reply);
    }

    private async Task<(Task Settled, long ConfirmedAt)> ConfirmAsync(OutgoingMessage outgoing, CancellationToken cancellationToken)
    {
        var message = outgoing.Message;
        var started = time.GetTimestamp();
        using var activity = TopicsTelemetry.StartSend(message, transport.System, outgoing.Parent);
        var result = await ObserveAsync(
            message,
            activity,
            () =>
                outgoing.ReplyUntil is { } until
                    ? _publisher.PublishRequestAsync(message, until, cancellationToken)
                    : _publisher.PublishAsync(message, cancellationToken)
        );
        var confirmedAt = time.GetTimestamp();
        await RecordAsync(
            [RecordOf(outgoing, AuditKind.Published, message, time.GetElapsedTime(started, confirmedAt), fault: null)],
            AuditDurability.Flushed
        );
        return (result.Settled, confirmedAt);
    }

    private async ValueTask<OutgoingMessage> PrepareAsync(
        MessageContext context,
        Subject subject,
        Guid id,
        string step,
        CancellationToken cancellationToken
    )
    {
        var read = await ReadAsync(context.Message, cancellationToken);
        if (read.Body.IsBuffered)
            schemas.Current.Check(subject, read);
        var published = read with { Id = id, Subject = subject.Value, Key = keys.Current.KeyOf(subject, context), Attempt = 0 };
        var message = MessageHops.Set(published, MessageHops.Of(context.Received)); // also for an answer, which carries no hops
        RefuseExcess(message);
        var isProcess = context.Process.Length > 0;
        return new OutgoingMessage(message, context.Endpoint, isProcess ? context.Process : null, Activity.Current?.Context ?? default)
        {
            CausedBy = id == context.Received.Id ? null : context.Received.Id,
            Step = isProcess ? step : null,
        };
    }

    // A body that is too large for memory is kept as it is read, and travels as a reference.
    private async ValueTask<EsbMessage> ReadAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        var largest = limits.Current.MaxBodySize.Bytes;
        if (message.Body.IsBuffered || message.Body.Length <= largest || !claims.TakesStreams)
        {
            await message.Body.BufferAsync(largest, cancellationToken);
            return message;
        }

        var ticket = await claims.PutAsync(message.Body, cancellationToken);
        return message with
        {
            Body =
                await claims.FindAsync(ticket, cancellationToken)
                ?? throw new EsbException("ESB-CLAIM-GONE", "The body that was just kept is gone.", FaultKind.Unavailable),
            Headers = message.Headers.With(EsbHeaders.Claim, ticket.ToString()),
        };
    }

    private static void RefuseExcess(EsbMessage message)
    {
        if (WireLimits.ExcessOf(message) is { } excess)
            throw new EsbException("ESB-HDR-LIMIT", excess, FaultKind.TooLarge);
        if (!WireLimits.IsShort(message.ContentType))
            throw new EsbException(
                "ESB-HDR-LIMIT",
                $"The content type is longer than {WireLimits.MaxShortBytes} bytes.",
                FaultKind.TooLarge
            );
        if (message.CorrelationId?.Length > WireLimits.MaxCorrelationLength)
            throw new EsbException(
                "ESB-HDR-CORRELATION",
                $"The correlation id is longer than {WireLimits.MaxCorrelationLength} characters.",
                FaultKind.Malformed
            );
    }

    private async Task<T> ObserveAsync<T>(EsbMessage message, Activity? activity, Func<Task<T>> send)
    {
        var started = time.GetTimestamp();
        string? error = null;
        try
        {
            return await send();
        }
        catch (Exception ex)
        {
            error = (ex as EsbException)?.Code ?? ex.GetType().FullName;
            activity?.SetStatus(ActivityStatusCode.Error, error);
            throw;
        }
        finally
        {
            TopicsTelemetry.RecordSend(message.Subject, transport.System, time.GetElapsedTime(started), error);
        }
    }

    private AuditRecord RecordOf(OutgoingMessage outgoing, AuditKind kind, EsbMessage content, TimeSpan? duration, EsbException? fault) =>
        new(
            AuditFacts.Of(outgoing.Message, kind, time, outgoing.Endpoint, outgoing.Process, duration, revision: audit.Revision) with
            {
                Step = outgoing.Step,
                CausedBy = outgoing.CausedBy,
                Code = fault?.Code,
                Reason = fault?.Message,
            },
            content
        );

    private async Task RecordAsync(AuditRecord[] records, AuditDurability durability)
    {
        try
        {
            await (
                durability == AuditDurability.Flushed && records is [{ Content: { } content } single]
                    ? audit.RecordAsync(single.Fact, content, CancellationToken.None)
                    : audit.RecordAsync(records, durability, CancellationToken.None)
            ); // a confirmed message is recorded even if its sender has gone
        }
        catch (EsbException ex)
        {
            throw AuditFaults.Unrecorded(ex);
        }
    }
}
