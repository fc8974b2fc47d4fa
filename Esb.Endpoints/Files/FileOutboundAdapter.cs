using Esb.Core.Endpoints;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>What the instances of one file-outbound endpoint share: the folder and the spelling of names.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="name">What its files are called.</param>
/// <param name="maxBodyBytes">The most bytes of a file.</param>
/// <param name="logger">Hears of a folder that cannot be made.</param>
internal sealed partial class FileOutboundAdapter(FileOutboundConfig config, FileNameTemplate name, long maxBodyBytes, ILogger<FileOutboundEndpoint> logger)
    : IOutboundAdapter
{
    private Lazy<NameSpellings>? _spellings;

    public IOutboundEndpoint CreateInstance()
    {
        var spellings = LazyInitializer.EnsureInitialized(ref _spellings, () => new Lazy<NameSpellings>(MakeFolder));
        return new FileOutboundEndpoint(config, name, spellings.Value, maxBodyBytes, logger);
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    // Once: a folder that vanishes later may be a volume that is away, and what is written below it would be hidden when it is back.
    private NameSpellings MakeFolder()
    {
        try
        {
            Directory.CreateDirectory(config.Folder);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            LogFolder(config.Name, ex);
        }

        return new NameSpellings(config.Folder);
    }

    [LoggerMessage(EventId = 2200, Level = LogLevel.Warning, Message = "ESB-FILE-FOLDER: the folder of {Endpoint} cannot be made; its messages wait")]
    private partial void LogFolder(string endpoint, Exception exception);
}
