using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>The type <c>file-outbound</c>.</summary>
internal sealed class FileOutboundType(IExpressionCompiler expressions, EsbConfiguration configuration, ILogger<FileOutboundEndpoint> logger)
    : OutboundEndpointType<FileOutboundConfig>
{
    protected override void Check(FileOutboundConfig settings, ConfigErrors errors) => FileNameTemplate.Compile(settings, expressions, errors);

    protected override IOutboundAdapter Create(FileOutboundConfig settings) => new FileOutboundAdapter(
        settings,
        new Lazy<FileNameTemplate>(() => FileNameTemplate.Compile(settings, expressions, new ConfigErrors()) ?? throw new InvalidOperationException($"{settings.Path} was not checked.")),
        configuration.Section<LimitsConfig>("limits").MaxBodySize.Bytes,
        logger);
}
