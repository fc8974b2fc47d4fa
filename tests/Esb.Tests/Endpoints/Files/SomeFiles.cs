using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Files;
using Esb.Tests.Endpoints.Contracts;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Files;

/// <summary>Builds endpoints of files for tests.</summary>
internal static class SomeFiles
{
    public const int MaxBodyBytes = 64 * 1024;

    public static FileOutboundConfig OutboundConfig(
        string folder,
        string fileName = "{message.id}.xml",
        FileExistsRule ifExists = FileExistsRule.Fail
    ) =>
        new()
        {
            Name = "orders-out",
            Path = "endpoints.orders-out",
            Folder = folder,
            FileName = fileName,
            IfExists = ifExists,
        };

    public static IOutboundAdapter Outbound(
        string folder,
        string fileName = "{message.id}.xml",
        FileExistsRule ifExists = FileExistsRule.Fail
    )
    {
        var config = OutboundConfig(folder, fileName, ifExists);
        var name = FileNameTemplate.Compile(config, fileName, new PlainExpressions(), new ConfigErrors())!;
        return new FileOutboundAdapter(config, name, MaxBodyBytes, NullLogger<FileOutboundEndpoint>.Instance);
    }

    public static FileInboundConfig InboundConfig(string folder) =>
        new()
        {
            Name = "drop-box",
            Path = "endpoints.drop-box",
            Folder = folder,
            Process = "receive-order",
            Interval = TimeSpan.FromMilliseconds(20),
        };

    public static FileInboundEndpoint Inbound(
        FileInboundConfig config,
        IMessageIntake intake,
        ILoggerFactory? loggers = null,
        Func<string, FileSystemWatcher>? watcher = null,
        IAuditGate? audit = null,
        OverloadGate? overload = null,
        IntakeHold? hold = null
    )
    {
        var time = TimeProvider.System;
        loggers ??= NullLoggerFactory.Instance;
        var admission = new Admission(
            overload,
            audit ?? new ToldAuditGate(),
            intake.NeedsTopics,
            new CallGate(config.MaxConcurrentCalls, time),
            hold
        );
        var desk = new FileDesk(
            config,
            new FileHandOver(config, intake, MaxBodyBytes, time),
            admission,
            new FileArchive(config, time),
            time,
            loggers.CreateLogger<FileDesk>()
        );
        var watch = new FolderWatch(
            config.Name,
            config.Folder,
            time,
            loggers.CreateLogger<FolderWatch>(),
            watcher ?? (folder => new FileSystemWatcher(folder))
        );
        return new FileInboundEndpoint(
            config,
            new FolderScan(config, time, loggers.CreateLogger<FolderScan>()),
            watch,
            desk,
            admission,
            time,
            loggers.CreateLogger<FileInboundEndpoint>()
        );
    }
}
