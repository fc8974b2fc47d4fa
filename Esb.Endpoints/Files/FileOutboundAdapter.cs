using Esb.Core.Endpoints;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>What the instances of one file-outbound endpoint share: the folder and the spelling of names.</summary>
internal sealed partial class FileOutboundAdapter : IOutboundAdapter
{
    private readonly FileOutboundConfig _config;
    private readonly FileNameTemplate _name;
    private readonly long _maxBodyBytes;
    private readonly ILogger<FileOutboundEndpoint> _logger;
    private readonly NameSpellings _spellings;

    public FileOutboundAdapter(FileOutboundConfig config, FileNameTemplate name, long maxBodyBytes, ILogger<FileOutboundEndpoint> logger)
    {
        _config = config;
        _name = name;
        _maxBodyBytes = maxBodyBytes;
        _logger = logger;
        _spellings = new NameSpellings(config.Folder);
        MakeFolder();
    }

    public IOutboundEndpoint CreateInstance() => new FileOutboundEndpoint(_config, _name, _spellings, _maxBodyBytes, _logger);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    // Only here: a folder that vanishes later may be a volume that is away, and what is written below it would be hidden when it is back.
    private void MakeFolder()
    {
        try
        {
            Directory.CreateDirectory(_config.Folder);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            LogFolder(_config.Name, ex);
        }
    }

    [LoggerMessage(EventId = 2200, Level = LogLevel.Warning, Message = "ESB-FILE-FOLDER: the folder of {Endpoint} cannot be made; its messages wait")]
    private partial void LogFolder(string endpoint, Exception exception);
}
