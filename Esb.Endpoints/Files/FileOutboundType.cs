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

    protected override IOutboundAdapter Create(FileOutboundConfig settings)
    {
        var name = FileNameTemplate.Compile(settings, expressions, new ConfigErrors())
            ?? throw new InvalidOperationException($"{settings.Path}: the configuration was not checked.");
        return new FileOutboundAdapter(settings, name, configuration.Section<LimitsConfig>("limits").MaxBodySize.Bytes, logger);
    }
}
