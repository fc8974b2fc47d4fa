using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;
using Microsoft.Extensions.Logging;
using Renci.SshNet;
using Renci.SshNet.Common;
using Renci.SshNet.Sftp;

namespace Esb.Endpoints.Sftp.Outbound;

/// <summary>Outbound endpoint that writes each message body to its own file on a server.</summary>
/// <remarks>A file gets its final name only when the server has confirmed all of it: readers never see a partial message. Redelivery is
/// harmless: the same bytes under the same name count as delivered.</remarks>
internal sealed partial class SftpOutboundEndpoint(
    SftpOutboundConfig config,
    FileNameTemplate name,
    string folder,
    SftpSessions sessions,
    long maxBodyBytes,
    ILogger<SftpOutboundEndpoint> logger
) : IOutboundEndpoint, IDisposable
{
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (name.ReadsBody)
            await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var fileName = name.Evaluate(new MessageContext(message, config.Name));
        try
        {
            var written = await sessions.UseAsync((client, limited) => WriteAsync(client, message, fileName, limited), cancellationToken);
            LogSent(message.Id, config.Name, written);
            return null; // a folder gives no reply
        }
        catch (Exception ex) when (!cancellationToken.IsCancellationRequested && SftpFailures.Of(config.Name, ex) is { } failure)
        {
            throw failure;
        }
    }

    public void Dispose() => sessions.Dispose();

    // Returns the final name.
    private async Task<string> WriteAsync(SftpClient client, EsbMessage message, string fileName, CancellationToken cancellationToken)
    {
        await using var upload = new SftpUpload(message.Body);
        var unfinished = await UploadAsync(client, message, upload, fileName, cancellationToken);
        try
        {
            return await PlaceAsync(client, unfinished, fileName, message.Id, upload, cancellationToken);
        }
        catch (Exception ex) when (SftpFailures.IsAnswer(ex))
        {
            await client.DeleteIfThereAsync(unfinished, cancellationToken);
            throw;
        }
    }

    private async Task<string> UploadAsync(
        SftpClient client,
        EsbMessage message,
        SftpUpload upload,
        string fileName,
        CancellationToken cancellationToken
    )
    {
        // Another attempt at this message may replace it.
        var own = SftpAddress.Join(folder, $".{fileName}-{message.Id:N}{FinalName.Unfinished}");
        if (!message.Body.IsBuffered)
        {
            await UploadAsync(client, upload, own, canReplace: true, cancellationToken); // what a kill leaves of a large file is not kept
            return own;
        }

        var unfinished = SftpAddress.Join(folder, $".{fileName}{FinalName.Unfinished}");
        try
        {
            await UploadAsync(client, upload, unfinished, canReplace: false, cancellationToken);
            return unfinished;
        }
        catch (SftpException ex)
            when (ex is not SftpPathNotFoundException and not SftpPermissionDeniedException && SftpFailures.IsAnswer(ex))
        {
            // Another host writes a file of this name at the same time, or left it when it ended.
            if (await client.FindAsync(unfinished, cancellationToken) is null)
                throw;
            await UploadAsync(client, upload, own, canReplace: true, cancellationToken);
            return own;
        }
    }

    private static async Task UploadAsync(
        SftpClient client,
        SftpUpload upload,
        string path,
        bool canReplace,
        CancellationToken cancellationToken
    )
    {
        try
        {
            await upload.SendAsync(client, path, canReplace, cancellationToken);
        }
        catch (Exception ex) when (upload.HasBegun && SftpFailures.IsAnswer(ex))
        {
            await client.DeleteIfThereAsync(path, cancellationToken); // it was made, so it is ours: the disk is full, or the source ended
            throw;
        }
    }

    private async Task<string> PlaceAsync(
        SftpClient client,
        string unfinished,
        string fileName,
        Guid messageId,
        SftpUpload upload,
        CancellationToken cancellationToken
    )
    {
        if (config.IfExists == FileExistsRule.Replace)
        {
            var target = SftpAddress.Join(folder, fileName);
            if (await client.TryRenameAsync(unfinished, target, cancellationToken))
                return fileName;
            RefuseSpecial(await client.FindPlainAsync(folder, fileName, cancellationToken), fileName);
            await Task.Run(() => client.RenameFile(unfinished, target, isPosix: true), cancellationToken); // there is no asynchronous form
            return fileName;
        }

        if (await IsPlacedAsync(client, unfinished, fileName, upload, cancellationToken))
            return fileName;
        if (config.IfExists == FileExistsRule.Unique)
        {
            var unique = $"{Path.GetFileNameWithoutExtension(fileName)}-{messageId:N}{Path.GetExtension(fileName)}";
            if (await IsPlacedAsync(client, unfinished, unique, upload, cancellationToken))
                return unique;
        }

        throw new EndpointException(
            config.Name,
            "ESB-FILE-EXISTS",
            $"The file '{fileName}' exists already, with other content.",
            isTransient: false
        );
    }

    private async Task<bool> IsPlacedAsync(
        SftpClient client,
        string unfinished,
        string fileName,
        SftpUpload upload,
        CancellationToken cancellationToken
    )
    {
        var target = SftpAddress.Join(folder, fileName);
        if (await client.TryRenameAsync(unfinished, target, cancellationToken))
            return true;
        var existing = RefuseSpecial(await client.FindPlainAsync(folder, fileName, cancellationToken), fileName);
        if (!await upload.IsSameAsync(client, target, existing.Length, cancellationToken))
            return false;
        await client.DeleteIfThereAsync(unfinished, cancellationToken);
        return true;
    }

    private ISftpFile RefuseSpecial(ISftpFile? existing, string fileName)
    {
        if (existing is null)
            throw new EndpointException(
                config.Name,
                "ESB-FILE-LINK",
                $"'{fileName}' is a symbolic link, which is not followed.",
                isTransient: false
            );
        if (!existing.IsRegularFile)
            throw new EndpointException(
                config.Name,
                "ESB-FILE-EXISTS",
                $"'{fileName}' exists already, and is no plain file.",
                isTransient: false
            );
        return existing;
    }

    [LoggerMessage(EventId = 2355, Level = LogLevel.Debug, Message = "Message {MessageId} written by {Endpoint} to {File}")]
    private partial void LogSent(Guid messageId, string endpoint, string file);
}
