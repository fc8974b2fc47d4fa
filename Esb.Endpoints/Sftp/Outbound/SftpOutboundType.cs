using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sftp.Outbound;

/// <summary>The type <c>sftp-outbound</c>.</summary>
internal sealed class SftpOutboundType(IExpressionCompiler expressions, LimitsConfig limits) : OutboundEndpointType<SftpOutboundConfig>
{
    protected override CreateOutbound? Compile(SftpOutboundConfig settings, ConfigErrors errors)
    {
        SftpServerCheck.Check(settings, settings, errors);
        if (FileNameTemplate.Compile(settings, settings.FileName, expressions, errors) is not { } name)
            return null;
        return services => new SftpOutboundAdapter(
            settings,
            name,
            new SftpConnector(settings, services.GetRequiredService<TimeProvider>()),
            limits.MaxBodySize.Bytes,
            services.GetRequiredService<ILogger<SftpOutboundEndpoint>>()
        );
    }
}

/// <summary>State shared by the instances of one sftp-outbound endpoint. Each instance has a session of its own.</summary>
internal sealed class SftpOutboundAdapter(
    SftpOutboundConfig config,
    FileNameTemplate name,
    SftpConnector connector,
    long maxBodyBytes,
    ILogger<SftpOutboundEndpoint> logger
) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() =>
        new SftpOutboundEndpoint(config, name, connector.Folder, new SftpSessions(connector, size: 1), maxBodyBytes, logger);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
