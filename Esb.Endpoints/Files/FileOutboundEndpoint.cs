using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>Outbound endpoint that writes each message body to its own file.</summary>
/// <remarks>
/// A file gets its final name only when it is complete and on disk: readers never see a partial message, and a sent message survives a
/// power loss. Redelivery is harmless: the same bytes under the same name count as delivered.
/// </remarks>
internal sealed partial class FileOutboundEndpoint(
    FileOutboundConfig config,
    FileNameTemplate name,
    NameSpellings spellings,
    long maxBodyBytes,
    ILogger<FileOutboundEndpoint> logger
) : IOutboundEndpoint
{
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        if (name.ReadsBody)
            await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var fileName = spellings.Find(name.Evaluate(new MessageContext(message, config.Name)));
        var unfinished = FinalName.Temporary(config.Folder); // unique: a redelivery may overlap the first attempt
        try
        {
            await WriteAsync(message, unfinished, cancellationToken);
            cancellationToken.ThrowIfCancellationRequested(); // cancelled meanwhile: a later message may already have the name
            var written = Place(unfinished, fileName, message.Id);
            FinalName.Keep(written);
            LogSent(message.Id, config.Name, fileName);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw FileFailures.Writing(config.Name, ex);
        }
        finally
        {
            if (File.Exists(unfinished))
                File.Delete(unfinished); // failed, cancelled or already there
        }

        return null; // a folder gives no reply
    }

    private static async Task WriteAsync(EsbMessage message, string path, CancellationToken cancellationToken)
    {
        var options = new FileStreamOptions
        {
            Mode = FileMode.CreateNew,
            Access = FileAccess.Write,
            BufferSize = 0,
            Options = FileOptions.Asynchronous,
        };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead; // not for others
        await using var file = new FileStream(path, options);
        await message.Body.CopyToAsync(file, cancellationToken);
        file.Flush(flushToDisk: true); // the broker discards the message once it is sent
    }

    /// <summary>Gives the file its final name and returns the path at which these bytes are found.</summary>
    private string Place(string unfinished, string fileName, Guid messageId)
    {
        var target = Path.Combine(config.Folder, fileName);
        if (config.IfExists == FileExistsRule.Replace)
        {
            RefuseSpecial(target);
            if (!FileBytes.AreSame(unfinished, target))
                File.Move(unfinished, target, overwrite: true);
            return target;
        }

        if (IsPlaced(unfinished, target))
            return target;
        if (config.IfExists == FileExistsRule.Unique)
        {
            target = Path.Combine(
                config.Folder,
                $"{Path.GetFileNameWithoutExtension(fileName)}-{messageId:N}{Path.GetExtension(fileName)}"
            );
            if (IsPlaced(unfinished, target))
                return target;
        }

        throw new EndpointException(
            config.Name,
            "ESB-FILE-EXISTS",
            $"The file '{fileName}' exists already, with other content.",
            isTransient: false
        );
    }

    private bool IsPlaced(string unfinished, string target)
    {
        if (FinalName.TryTake(unfinished, target))
            return true;
        RefuseSpecial(target);
        return FileBytes.AreSame(unfinished, target);
    }

    private void RefuseSpecial(string target)
    {
        var existing = new FileInfo(target);
        if (existing.LinkTarget is not null)
            throw new EndpointException(
                config.Name,
                "ESB-FILE-LINK",
                $"'{existing.Name}' is a symbolic link, which is not followed.",
                isTransient: false
            );
        if (Path.Exists(target) && !Posix.IsRegularFile(target))
            throw new EndpointException(
                config.Name,
                "ESB-FILE-EXISTS",
                $"'{existing.Name}' exists already, and is no plain file.",
                isTransient: false
            );
    }

    [LoggerMessage(EventId = 2201, Level = LogLevel.Debug, Message = "Message {MessageId} written by {Endpoint} to {File}")]
    private partial void LogSent(Guid messageId, string endpoint, string file);
}
