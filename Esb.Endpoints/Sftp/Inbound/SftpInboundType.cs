using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>The type <c>sftp-inbound</c>.</summary>
internal sealed class SftpInboundType(LimitsConfig limits) : InboundEndpointType<SftpInboundConfig>
{
    protected override CreateInbound? Compile(SftpInboundConfig settings, ConfigErrors errors)
    {
        if (settings.Relay is not null)
            errors.Add("ESB-CFG-VALUE", settings, "relay", "a file cannot be relayed: expected process or publish");
        if (settings.Mode == ExchangePattern.RequestReply)
            errors.Add("ESB-CFG-VALUE", settings, "mode", "a file has no caller that waits for an answer: expected one-way");
        if (settings.Pattern.AsSpan().IndexOfAny('/', '\\') >= 0)
            errors.Add("ESB-CFG-VALUE", settings, "pattern", "expected a pattern of file names, without folders");
        StreamedFileRule.Check(settings, settings.MaxBodySize, errors);
        SftpServerCheck.Check(settings, settings, errors);
        SftpFolderRule.CheckFolders(settings, errors);
        ReadyRule.Check(settings, settings.Ready, errors);
        return (services, intake) =>
        {
            var admission = services.GetRequiredService<Admissions>().Of(settings, intake.NeedsTopics);
            return Create(
                settings,
                settings.MaxBodySize?.Bytes ?? limits.MaxBodySize.Bytes,
                services.GetRequiredService<IEndpointMarks>(),
                admission,
                intake,
                services.GetRequiredService<TimeProvider>(),
                services.GetRequiredService<ILoggerFactory>()
            );
        };
    }

    /// <summary>Builds the endpoint of checked settings.</summary>
    internal static SftpInboundEndpoint Create(
        SftpInboundConfig settings,
        long maxBodyBytes,
        IEndpointMarks marks,
        Admission admission,
        IMessageIntake intake,
        TimeProvider time,
        ILoggerFactory loggers
    )
    {
        var connector = new SftpConnector(settings, time);
        var sessions = new SftpSessions(connector, settings.PoolSize);
        var ready = settings.Ready is { } text ? ReadyRule.Parse(text) : null;
        var claims = new SftpClaims(settings, connector.Folder, ready, marks, loggers.CreateLogger<SftpClaims>());
        var scan = new SftpScan(settings, connector.Folder, claims, ready, time, loggers.CreateLogger<SftpScan>());
        var handOver = new SftpHandOver(settings, sessions, intake, maxBodyBytes, time);
        var desk = new SftpDesk(
            settings,
            sessions,
            handOver,
            claims,
            new SftpArchive(settings, connector.Folder, time),
            admission,
            time,
            loggers.CreateLogger<SftpDesk>()
        );
        return new SftpInboundEndpoint(
            settings,
            sessions,
            scan,
            claims,
            desk,
            admission,
            time,
            loggers.CreateLogger<SftpInboundEndpoint>()
        );
    }
}
