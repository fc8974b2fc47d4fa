using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Delivery.Polling;

namespace Esb.Endpoints.Files;

/// <summary>Creates a message from a claimed file and hands it to the bus. Thread-safe.</summary>
internal sealed class FileHandOver(FileInboundConfig config, IMessageIntake intake, long maxBodyBytes, TimeProvider time)
    : PolledHandOver<ClaimedFile>(intake)
{
    private const int WouldBlock = 11; // EWOULDBLOCK: locked by its writer
    private const int WindowsSharingViolation = unchecked((int)0x80070020);

    private readonly HeaderRules _headers = new(config.Headers);

    protected override EsbMessage Envelope(ClaimedFile item) =>
        EsbMessage.Create(MessageBody.Empty, time) with
        {
            Id = item.MessageId,
            ConversationId = item.MessageId,
            ContentType = ContentTypeOf(item.Name),
            Headers = _headers.Admit([new("x-file-name", SafeFileName.Escape(item.Name))], out _),
            Properties = PropertiesOf(item),
        };

    protected override async Task<MessageBody> ReadAsync(ClaimedFile item, CancellationToken cancellationToken)
    {
        await using var stream = Open(item);
        var (length, lastWrite) = (stream.Length, File.GetLastWriteTimeUtc(item.Path));
        if (length > maxBodyBytes)
            throw new EsbException("ESB-BODY-SIZE", $"The file is larger than {maxBodyBytes} bytes.", FaultKind.TooLarge);
        if (config.Transfer == BodyTransfer.Streamed)
            return MessageBody.FromSource(() => new UnchangedFile(Open(item), item.Path, length, lastWrite, Busy), length);

        var body = MessageBody.FromStream(stream, length);
        var read = await body.BufferAsync(maxBodyBytes, cancellationToken);
        if (read.Length != length || stream.Length != length || File.GetLastWriteTimeUtc(item.Path) != lastWrite)
            throw Busy(null);
        return body;
    }

    private static IReadOnlyDictionary<string, object> PropertiesOf(ClaimedFile item)
    {
        var file = new FileInfo(item.Path);
        return FileProperties.Of(item.Name, file.Exists ? file.Length : 0, file.LastWriteTimeUtc);
    }

    private static FileStream Open(ClaimedFile file)
    {
        if (!Posix.IsRegularFile(file.Path))
            throw new EsbException("ESB-FILE-LINK", "The file is a link or no plain file, and is not followed.", FaultKind.Invalid);
        try
        {
            return new FileStream(
                file.Path,
                FileMode.Open,
                FileAccess.Read,
                FileShare.Read,
                bufferSize: 0,
                FileOptions.Asynchronous | FileOptions.SequentialScan
            );
        }
        catch (UnauthorizedAccessException ex)
        {
            throw new EsbException("ESB-FILE-ACCESS", "The file may not be read.", FaultKind.Invalid, ex);
        }
        catch (IOException ex) when (ex.HResult is WouldBlock or WindowsSharingViolation)
        {
            throw Busy(ex);
        }
    }

    private static EsbException Busy(Exception? cause) =>
        new("ESB-FILE-BUSY", "The file is still being written to.", FaultKind.Unavailable, cause);

    /// <summary>The media type of a file, by the end of its name.</summary>
    internal static string ContentTypeOf(string name) =>
        Path.GetExtension(name).ToLowerInvariant() switch
        {
            ".xml" => "application/xml",
            ".json" => "application/json",
            _ => "application/octet-stream",
        };
}
