using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Overload;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>The type <c>file-inbound</c>.</summary>
internal sealed class FileInboundType(LimitsConfig limits) : InboundEndpointType<FileInboundConfig>
{
    protected override CreateInbound? Compile(FileInboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        return (services, intake) => Create(settings, limits.MaxBodySize.Bytes, services, intake);
    }

    private static void Check(FileInboundConfig settings, ConfigErrors errors)
    {
        if (settings.Relay is not null)
            errors.Add("ESB-CFG-VALUE", settings, "relay", "a file cannot be relayed: expected process or publish");
        if (settings.Mode == ExchangePattern.RequestReply)
            errors.Add("ESB-CFG-VALUE", settings, "mode", "a file has no caller that waits for an answer: expected one-way");
        if (settings.Pattern.AsSpan().IndexOfAny('/', '\\') >= 0)
            errors.Add("ESB-CFG-VALUE", settings, "pattern", "expected a pattern of file names, without folders");
        StreamedFileRule.Check(settings, settings.MaxBodySize, errors);
        ReadyRule.Check(settings, settings.Ready, errors);
        foreach (var (name, folder) in new[] { ("done", settings.Done), ("error", settings.Error) })
        {
            if (folder == settings.Folder)
                errors.Add("ESB-CFG-VALUE", settings, name, "must not be the folder that is read");
        }
    }

    private static FileInboundEndpoint Create(
        FileInboundConfig settings,
        long maxBodyBytes,
        IServiceProvider services,
        IMessageIntake intake
    )
    {
        var (time, loggers) = (services.GetRequiredService<TimeProvider>(), services.GetRequiredService<ILoggerFactory>());
        var handOver = new FileHandOver(settings, intake, settings.MaxBodySize?.Bytes ?? maxBodyBytes, time);
        var admission = services.GetRequiredService<Admissions>().Of(settings, intake.NeedsTopics);
        var desk = new FileDesk(settings, handOver, admission, new FileArchive(settings, time), time, loggers.CreateLogger<FileDesk>());
        var scan = new FolderScan(settings, time, loggers.CreateLogger<FolderScan>());
        var watch = new FolderWatch(
            settings.Name,
            settings.Folder,
            time,
            loggers.CreateLogger<FolderWatch>(),
            folder => new FileSystemWatcher(folder)
        );
        return new FileInboundEndpoint(settings, scan, watch, desk, admission, time, loggers.CreateLogger<FileInboundEndpoint>());
    }
}
