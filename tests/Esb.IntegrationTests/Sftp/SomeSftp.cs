using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;
using Esb.Endpoints.Sftp.Inbound;
using Esb.Endpoints.Sftp.Outbound;
using Esb.Tests.Endpoints.Contracts;
using Esb.Tests.Endpoints.Files;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Sftp;

/// <summary>Builds SFTP endpoints for tests.</summary>
internal static class SomeSftp
{
    public static SftpInboundConfig InboundConfig(SshServer server) =>
        new()
        {
            Name = "partner",
            Path = "endpoints.partner",
            Url = server.Url,
            PrivateKey = server.PrivateKey,
            HostKey = [server.HostKey],
            Process = "receive",
            Interval = TimeSpan.FromMilliseconds(100),
        };

    public static SftpOutboundConfig OutboundConfig(SshServer server, string fileName = "{message.id}.xml") =>
        new()
        {
            Name = "partner-out",
            Path = "endpoints.partner-out",
            Url = server.Url,
            PrivateKey = server.PrivateKey,
            HostKey = [server.HostKey],
            FileName = fileName,
        };

    public static SftpInboundEndpoint Inbound(
        SftpInboundConfig config,
        IMessageIntake intake,
        KeptMarks? marks = null,
        LogLines? log = null,
        ToldAuditGate? audit = null,
        OverloadGate? overload = null,
        IntakeHold? hold = null
    )
    {
        var admission = new Admission(
            overload,
            audit ?? new ToldAuditGate(),
            intake.NeedsTopics,
            new CallGate(config.MaxConcurrentCalls, TimeProvider.System),
            hold
        );
        var loggers = log is null
            ? (ILoggerFactory)NullLoggerFactory.Instance
            : LoggerFactory.Create(builder => builder.SetMinimumLevel(LogLevel.Trace).AddProvider(log));
        return SftpInboundType.Create(
            config,
            SomeFiles.MaxBodyBytes,
            marks ?? new KeptMarks(),
            admission,
            intake,
            TimeProvider.System,
            loggers
        );
    }

    public static SftpOutboundAdapter Outbound(SftpOutboundConfig config, TimeProvider? time = null)
    {
        var name = FileNameTemplate.Compile(config, config.FileName, new PlainExpressions(), new ConfigErrors())!;
        return new SftpOutboundAdapter(
            config,
            name,
            new SftpConnector(config, time ?? TimeProvider.System),
            SomeFiles.MaxBodyBytes,
            NullLogger<SftpOutboundEndpoint>.Instance
        );
    }

    /// <summary>Sends a message by an instance of its own, and returns the failure; null if it was sent.</summary>
    public static async Task<EndpointException?> TryAsync(
        this IOutboundAdapter adapter,
        EsbMessage message,
        CancellationToken cancellationToken
    )
    {
        var instance = adapter.CreateInstance();
        using var disposable = instance as IDisposable;
        try
        {
            await instance.SendAsync(message, cancellationToken);
            return null;
        }
        catch (EndpointException ex)
        {
            return ex;
        }
    }
}
