using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>The type <c>file-inbound</c>.</summary>
internal sealed class FileInboundType(EsbConfiguration configuration, IAuditGate audit, TimeProvider time, ILoggerFactory loggers) : InboundEndpointType<FileInboundConfig>
{
    protected override Func<IMessageIntake, IInboundEndpoint>? Prepare(FileInboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        return intake => Create(settings, intake);
    }

    private static void Check(FileInboundConfig settings, ConfigErrors errors)
    {
        if (settings.Relay is not null) errors.Add("ESB-CFG-VALUE", settings, "relay", "a file cannot be relayed: expected process or publish");
        if (settings.Mode == ExchangePattern.RequestReply)
            errors.Add("ESB-CFG-VALUE", settings, "mode", "nobody waits for the answer to a file: expected one-way");
        if (settings.Pattern.AsSpan().IndexOfAny('/', '\\') >= 0)
            errors.Add("ESB-CFG-VALUE", settings, "pattern", "expected a pattern of file names, without folders");
        foreach (var (name, folder) in new[] { ("done", settings.Done), ("error", settings.Error) })
        {
            if (folder == settings.Folder && settings.IsSound("folder")) errors.Add("ESB-CFG-VALUE", settings, name, "must not be the folder that is read");
        }
    }

    private FileInboundEndpoint Create(FileInboundConfig settings, IMessageIntake intake)
    {
        var maxBodyBytes = configuration.Section<LimitsConfig>("limits").MaxBodySize.Bytes;
        var handOver = new FileHandOver(settings, intake, maxBodyBytes, time);
        var desk = new FileDesk(settings, handOver, new FileArchive(settings, time), time, loggers.CreateLogger<FileDesk>());
        var scan = new FolderScan(settings, time, loggers.CreateLogger<FolderScan>());
        var watch = new FolderWatch(settings.Name, settings.Folder, time, loggers.CreateLogger<FolderWatch>(), folder => new FileSystemWatcher(folder));
        return new FileInboundEndpoint(settings, scan, watch, desk, audit, time, loggers.CreateLogger<FileInboundEndpoint>());
    }
}
