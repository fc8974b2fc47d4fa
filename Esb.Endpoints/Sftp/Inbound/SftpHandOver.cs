using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Delivery.Polling;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>Creates a message from a claimed file and hands it to the bus. Thread-safe.</summary>
internal sealed class SftpHandOver(
    SftpInboundConfig config,
    SftpSessions sessions,
    IMessageIntake intake,
    long maxBodyBytes,
    TimeProvider time
) : PolledHandOver<SftpItem>(intake)
{
    private readonly HeaderRules _headers = new(config.Headers);

    protected override EsbMessage Envelope(SftpItem item) =>
        EsbMessage.Create(MessageBody.Empty, time) with
        {
            Id = item.MessageId,
            ConversationId = item.MessageId,
            ContentType = FileHandOver.ContentTypeOf(item.File.Name),
            Headers = _headers.Admit([new("x-file-name", SafeFileName.Escape(item.File.Name))], out _),
            Properties = FileProperties.Of(item.File.Name, item.File.Size, item.File.Modified),
        };

    protected override async Task<MessageBody> ReadAsync(SftpItem item, CancellationToken cancellationToken)
    {
        if (item.File.Size > Math.Min(maxBodyBytes, Array.MaxLength - 1))
            throw new EsbException("ESB-BODY-SIZE", $"The file is larger than {maxBodyBytes} bytes.", FaultKind.TooLarge);
        try
        {
            var bytes = await sessions.UseAsync(
                (client, limited) => client.ReadAsync(item.Path, (int)item.File.Size, limited),
                cancellationToken
            );
            return MessageBody.FromBytes(bytes ?? throw new SftpChangedException());
        }
        catch (Exception ex)
            when (ex is not Renci.SshNet.Common.SftpPathNotFoundException
                && !cancellationToken.IsCancellationRequested
                && SftpFailures.Of(config.Name, ex) is { } failure
            )
        {
            throw failure;
        }
    }
}
