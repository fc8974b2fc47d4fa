using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using MailKit;
using MailKit.Security;
using Microsoft.Extensions.Logging;
using MimeKit;

namespace Esb.Endpoints.Mail;

/// <summary>Outbound endpoint that sends a mail for each message.</summary>
/// <remarks>At least once: after a lost connection the outcome is unknown, and the next attempt sends a mail with the same Message-ID. What
/// the server took for some recipients only is recorded, so that a retry reaches the others alone.</remarks>
internal sealed partial class MailOutboundEndpoint(
    MailOutboundConfig config,
    MailWriter writer,
    MailConnector connector,
    IEndpointMarks marks,
    ILogger<MailOutboundEndpoint> logger
) : IOutboundEndpoint, IDisposable
{
    private MailSession? _session;

    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var (mail, sender, recipients) = await writer.WriteAsync(message, cancellationToken);
        using var written = mail;
        var record = new RecipientRecord(config.Name, message.Id, marks);
        await UseStoreAsync(() => record.ReadAsync(cancellationToken));
        var left = recipients.Where(recipient => !record.IsDecided(recipient.Address)).ToList();
        var postponed = left.Count == 0 ? [] : await SendAsync(mail, sender, left, record, message.Id, cancellationToken);
        if (postponed.Count > 0 || record.Refusals.Any())
            await FailAsync(record, recipients, postponed, message.Id);
        LogSent(message.Id, config.Name, recipients.Count);
        return null; // a mail server gives no reply
    }

    public void Dispose() => Forget();

    // Returns the statuses of recipients that the server takes later.
    private async Task<List<int>> SendAsync(
        MimeMessage mail,
        MailboxAddress sender,
        List<MailboxAddress> recipients,
        RecipientRecord record,
        Guid messageId,
        CancellationToken cancellationToken
    )
    {
        try
        {
            _session = await connector.ConnectAsync(_session, cancellationToken);
            await _session.SendAsync(mail, sender, recipients, cancellationToken);
        }
        catch (Exception ex) when (ex is not EndpointException)
        {
            var hasBegun = _session?.HasBegun == true;
            Forget(); // its state is unknown
            if (cancellationToken.IsCancellationRequested)
                throw;
            if (MailFailures.Of(config.Name, ex, hasBegun) is not { } failure)
                throw;
            if (failure.Code == "ESB-SMTP-UNKNOWN")
                LogUnknown(ex, messageId, config.Name);
            throw failure;
        }

        foreach (var (recipient, status) in _session.Answers)
        {
            if (status < 400)
                record.NoteSent(recipient.Address);
            else if (status >= 500)
                record.NoteRefused(recipient.Address, status);
        }

        return [.. _session.Answers.Select(answer => answer.Status).Where(status => status is >= 400 and < 500)];
    }

    private async Task FailAsync(
        RecipientRecord record,
        IReadOnlyCollection<MailboxAddress> recipients,
        List<int> postponed,
        Guid messageId
    )
    {
        await UseStoreAsync(() => record.KeepAsync(CancellationToken.None));
        if (postponed.Count > 0)
        {
            throw new EndpointException(
                config.Name,
                "ESB-SMTP-LATER",
                $"The mail server of '{config.Name}' takes {postponed.Count} of {recipients.Count} recipients later ({postponed[0]}).",
                isTransient: true
            );
        }

        var refusals = record.Refusals.ToList();
        LogRefused(messageId, config.Name, refusals.Count, recipients.Count, refusals[0]);
        throw new EndpointException(
            config.Name,
            "ESB-SMTP-RECIPIENT",
            $"The mail server of '{config.Name}' refused {refusals.Count} of {recipients.Count} recipients for good "
                + $"({refusals[0]}); the others have the mail.",
            isTransient: false
        );
    }

    private async Task UseStoreAsync(Func<Task> use)
    {
        try
        {
            await use();
        }
        catch (EsbException ex) when (ex is not EndpointException)
        {
            throw new EndpointException(config.Name, ex.Code, ex.Message, isTransient: true, ex);
        }
    }

    private void Forget()
    {
        _session?.Dispose();
        _session = null;
    }

    [LoggerMessage(EventId = 2280, Level = LogLevel.Debug, Message = "Message {MessageId} sent by {Endpoint} to {Count} recipients")]
    private partial void LogSent(Guid messageId, string endpoint, int count);

    [LoggerMessage(
        EventId = 2281,
        Level = LogLevel.Warning,
        Message = "ESB-SMTP-UNKNOWN: the mail server of {Endpoint} did not confirm the mail of message {MessageId}; the retry may "
            + "duplicate it"
    )]
    private partial void LogUnknown(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2282,
        Level = LogLevel.Warning,
        Message = "ESB-SMTP-RECIPIENT: {Refused} of {Count} recipients of message {MessageId} of {Endpoint} were refused for good "
            + "({Status})"
    )]
    private partial void LogRefused(Guid messageId, string endpoint, int refused, int count, int status);
}
