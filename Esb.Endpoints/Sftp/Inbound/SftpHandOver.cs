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

    /// <inheritdoc/>
    /// <remarks>A file that is streamed has a session of its own until its message was handed over.</remarks>
    public override async Task<Task> HandOverAsync(SftpItem item, CancellationToken cancellationToken)
    {
        if (config.Transfer != BodyTransfer.Streamed)
            return await base.HandOverAsync(item, cancellationToken);
        using var session = await TryAsync(() => sessions.RentAsync(cancellationToken), cancellationToken);
        var settled = await base.HandOverAsync(item with { Session = session }, cancellationToken);
        session.IsSound = true;
        return settled;
    }

    protected override async Task<MessageBody> ReadAsync(SftpItem item, CancellationToken cancellationToken)
    {
        var size = item.File.Size;
        if (size > maxBodyBytes || (item.Session is null && size > Array.MaxLength - 1))
            throw new EsbException("ESB-BODY-SIZE", $"The file is larger than {maxBodyBytes} bytes.", FaultKind.TooLarge);
        if (item.Session is not { Client: var client })
        {
            var bytes = await TryAsync(
                () => sessions.UseAsync((any, limited) => any.ReadAsync(item.Path, (int)size, limited), cancellationToken),
                cancellationToken
            );
            return MessageBody.FromBytes(bytes ?? throw new SftpChangedException());
        }

        var found = await TryAsync(() => client.GetAttributesAsync(item.Path, cancellationToken), cancellationToken);
        return found.Size == size
            ? MessageBody.FromSource(() => SftpFileBody.Open(config.Name, item, client), size)
            : throw new SftpChangedException();
    }

    private async Task<T> TryAsync<T>(Func<Task<T>> work, CancellationToken cancellationToken)
    {
        try
        {
            return await work();
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
