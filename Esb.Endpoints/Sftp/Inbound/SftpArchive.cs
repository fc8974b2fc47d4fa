using System.Globalization;
using System.Text;
using Esb.Delivery.Polling;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;
using Renci.SshNet;
using Renci.SshNet.Common;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>Deletes or moves claimed files whose message has arrived, and moves refused ones to the folder of errors.
/// Thread-safe.</summary>
internal sealed class SftpArchive(SftpInboundConfig config, string folder, TimeProvider time)
{
    private readonly string? _target = SftpFolderRule.MoveTarget(config.After);

    /// <summary>Puts a file away, and its trigger. Does nothing for a file that is gone.</summary>
    public async Task PutAwayAsync(SftpClient client, SftpItem item, string? trigger, CancellationToken cancellationToken)
    {
        if (config.Claim == SftpClaimRule.None)
            return;
        if (item.Refusal is { } refusal)
            await ExplainAsync(client, await MoveAsync(client, item, config.Error, cancellationToken), item, refusal, cancellationToken);
        else if (_target is null)
            await client.DeleteIfThereAsync(item.Path, cancellationToken);
        else
            await MoveAsync(client, item, _target, cancellationToken);
        if (trigger is not null)
            await client.DeleteIfThereAsync(trigger, cancellationToken);
    }

    // Returns the new path.
    private async Task<string> MoveAsync(SftpClient client, SftpItem item, string target, CancellationToken cancellationToken)
    {
        var name = item.File.Name;
        var extension = name.LastIndexOf('.') is > 0 and var at ? name[at..] : "";
        var own = $"{Clip(name[..^extension.Length])}.{item.MessageId:N}{Clip(extension)}";
        var (plain, marked) = (PathIn(target, name), PathIn(target, own));
        try
        {
            if (await TryMoveAsync(client, item.Path, plain, target, cancellationToken))
                return plain;
            if (await TryMoveAsync(client, item.Path, marked, target, cancellationToken))
                return marked;
        }
        catch (SftpPathNotFoundException)
        {
            if (await client.FindAsync(item.Path, cancellationToken) is not null)
                throw;
            return await client.FindAsync(marked, cancellationToken) is null ? plain : marked; // moved before
        }

        throw new SftpException(Renci.SshNet.Sftp.StatusCode.Failure, "The file exists already.");
    }

    private async Task<bool> TryMoveAsync(SftpClient client, string source, string path, string target, CancellationToken cancellationToken)
    {
        try
        {
            return await client.TryRenameAsync(source, path, cancellationToken);
        }
        catch (Exception ex) when (SftpFailures.IsAnswer(ex))
        {
            if (await client.FindAsync(SftpAddress.Join(folder, target), cancellationToken) is not null)
                throw;
            await client.MakeFolderAsync(folder, target, cancellationToken);
            return await client.TryRenameAsync(source, path, cancellationToken);
        }
    }

    private async Task ExplainAsync(
        SftpClient client,
        string path,
        SftpItem item,
        PolledRefusal refusal,
        CancellationToken cancellationToken
    )
    {
        var text = string.Create(
            CultureInfo.InvariantCulture,
            $"{refusal.Code}\n{refusal.Reason}\n{time.GetUtcNow():O}\nmessage {item.MessageId}\n"
        );
        using var stream = new MemoryStream(Encoding.UTF8.GetBytes(text), writable: false);
        var unfinished = PathIn(config.Error, $".{item.MessageId:N}{FinalName.Unfinished}");
        await client.UploadFileAsync(stream, unfinished, cancellationToken);
        if (!await client.TryRenameAsync(unfinished, $"{path}.reason.txt", cancellationToken))
            await client.DeleteIfThereAsync(unfinished, cancellationToken);
    }

    private string PathIn(string target, string name) => SftpAddress.Join(SftpAddress.Join(folder, target), name);

    // File names may have 255 bytes and a character up to three, so the clipped text still fits together with the id.
    private static string Clip(string text) => text.Length <= 60 ? text : text[..60];
}
