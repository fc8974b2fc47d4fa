using System.Text;
using Esb.Content.Transforms;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using MimeKit;
using MimeKit.Utils;

namespace Esb.Endpoints.Mail;

/// <summary>Makes the mail of a message. Thread-safe.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="plan">Its templates.</param>
/// <param name="maps">Finds the maps of texts, as they are now.</param>
/// <param name="bus">The name of the bus, for message ids.</param>
/// <param name="maxBodyBytes">The most bytes that texts and attachments may have together, before they are encoded.</param>
internal sealed class MailWriter(MailOutboundConfig config, MailPlan plan, Func<string, IMessageMap> maps, string bus, long maxBodyBytes)
{
    private readonly MailAddresses _addresses = new(config.Name, config.Allow);

    /// <summary>Makes the mail. The same message gives the same Message-ID and date at every attempt.</summary>
    /// <exception cref="EndpointException">Nothing may be sent: the failure says why.</exception>
    public async ValueTask<(MimeMessage Mail, MailboxAddress Sender, IReadOnlyList<MailboxAddress> Recipients)> WriteAsync(
        EsbMessage message,
        CancellationToken cancellationToken
    )
    {
        await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var context = new MessageContext(message, config.Name);
        var from = _addresses.Read([plan.From], context, "from");
        if (from is not [var sender])
            throw new EndpointException(
                config.Name,
                "ESB-SMTP-ADDRESS",
                "The mail needs exactly one sender.",
                isTransient: false,
                kind: FaultKind.Invalid
            )
            {
                IsUnsent = true,
            };
        var (to, cc, bcc) = (
            _addresses.Read(plan.To, context, "to"),
            _addresses.Read(plan.Cc, context, "cc"),
            _addresses.Read(plan.Bcc, context, "bcc")
        );
        var recipients = to.Concat(cc).Concat(bcc).DistinctBy(address => address.Address, StringComparer.OrdinalIgnoreCase).ToList();
        _addresses.CheckRecipients(recipients);

        var body = await BodyOfAsync(message, context, cancellationToken);
        var mail = new MimeMessage(new[] { sender }, to, _addresses.Line(plan.Subject, context, "subject"), body)
        {
            MessageId = $"{message.Id}@{bus}",
            Date = message.CreatedAt,
        };
        mail.Cc.AddRange(cc);
        mail.Headers.Add("Auto-Submitted", "auto-generated"); // RFC 3834: out-of-office replies do not answer it
        return (mail, sender, recipients);
    }

    private async ValueTask<MimeEntity> BodyOfAsync(EsbMessage message, MessageContext context, CancellationToken cancellationToken)
    {
        var builder = new BodyBuilder
        {
            TextBody = await TextOfAsync(plan.Text, config.Text, context, cancellationToken),
            HtmlBody = await TextOfAsync(plan.Html, config.Html, context, cancellationToken),
        };
        var size = Bytes(builder.TextBody) + Bytes(builder.HtmlBody);
        foreach (var (name, value, contentType) in plan.Attachments)
        {
            var bytes = Encoding.UTF8.GetBytes(MessageValues.AsText(value.Evaluate(context)) ?? "");
            size += bytes.Length;
            if (size > maxBodyBytes)
                throw TooLarge();
            Attach(builder, _addresses.Line(name, context, "the name of an attachment"), bytes, contentType);
        }

        if (size > maxBodyBytes)
            throw TooLarge();
        if (config is { Text: null, Html: null, Attachments.Count: 0 })
            AddWhole(builder, message);
        return builder.ToMessageBody();
    }

    private static void AddWhole(BodyBuilder builder, EsbMessage message)
    {
        var contentType = ContentType.TryParse(message.ContentType ?? "application/octet-stream", out var parsed)
            ? parsed
            : new ContentType("application", "octet-stream");
        if (contentType.IsMimeType("text", "plain"))
            builder.TextBody = message.Body.ReadText();
        else if (contentType.IsMimeType("text", "html"))
            builder.HtmlBody = message.Body.ReadText();
        else
            Attach(builder, $"message{ExtensionOf(contentType)}", message.Body.Bytes.ToArray(), contentType.MimeType);
    }

    private async ValueTask<string?> TextOfAsync(
        IMessageValue? template,
        MailContentConfig? content,
        MessageContext context,
        CancellationToken cancellationToken
    ) =>
        content?.Map is { } map
            ? (await maps(map).TransformAsync(new MapCall(context), [], cancellationToken)).Body.ReadText()
            : MessageValues.AsText(template?.Evaluate(context));

    private static void Attach(BodyBuilder builder, string name, byte[] content, string contentType)
    {
        var type = ContentType.TryParse(contentType, out var parsed) ? parsed : new ContentType("application", "octet-stream");
        builder.Attachments.Add(
            new MimePart(type)
            {
                Content = new MimeContent(new MemoryStream(content, writable: false)),
                ContentDisposition = new ContentDisposition(ContentDisposition.Attachment) { FileName = name },
                ContentTransferEncoding = ContentEncoding.Base64, // keeps every byte, also lone dots and long lines
            }
        );
    }

    private static string ExtensionOf(ContentType type) => MimeTypes.TryGetExtension(type.MimeType, out var extension) ? extension : ".bin";

    private static long Bytes(string? text) => text is null ? 0 : Encoding.UTF8.GetByteCount(text);

    private EndpointException TooLarge() =>
        new(
            config.Name,
            "ESB-SMTP-SIZE",
            $"Texts and attachments of the mail have more than {maxBodyBytes} bytes.",
            isTransient: false,
            kind: FaultKind.TooLarge
        )
        {
            IsUnsent = true,
        };
}
