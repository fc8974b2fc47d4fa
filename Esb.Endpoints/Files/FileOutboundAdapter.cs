using Esb.Core.Endpoints;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>State shared by the instances of one file-outbound endpoint: the folder and the spelling of names.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="name">The template of the file names.</param>
/// <param name="maxBodyBytes">The maximum size of a file, in bytes.</param>
/// <param name="logger">Receives the report of a folder that cannot be created.</param>
internal sealed partial class FileOutboundAdapter(
    FileOutboundConfig config,
    FileNameTemplate name,
    long maxBodyBytes,
    ILogger<FileOutboundEndpoint> logger
) : IOutboundAdapter
{
    private Lazy<NameSpellings>? _spellings;

    public IOutboundEndpoint CreateInstance()
    {
        var spellings = LazyInitializer.EnsureInitialized(ref _spellings, () => new Lazy<NameSpellings>(MakeFolder));
        return new FileOutboundEndpoint(config, name, spellings.Value, maxBodyBytes, logger);
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    // Once only: a folder that disappears later may be an unmounted volume, which would hide files written below its mount point.
    private NameSpellings MakeFolder()
    {
        try
        {
            Directory.CreateDirectory(config.Folder);
            FinalName.DeleteLeft(config.Folder, TimeProvider.System.GetUtcNow());
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            LogFolder(config.Name, ex);
        }

        return new NameSpellings(config.Folder);
    }

    [LoggerMessage(
        EventId = 2200,
        Level = LogLevel.Warning,
        Message = "ESB-FILE-FOLDER: the folder of {Endpoint} cannot be made; its messages wait"
    )]
    private partial void LogFolder(string endpoint, Exception exception);
}
