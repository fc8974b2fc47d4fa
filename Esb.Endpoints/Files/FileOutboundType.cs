using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>The type <c>file-outbound</c>.</summary>
internal sealed class FileOutboundType(IExpressionCompiler expressions, EsbConfiguration configuration, ILogger<FileOutboundEndpoint> logger)
    : OutboundEndpointType<FileOutboundConfig>
{
    protected override Func<IOutboundAdapter>? Prepare(FileOutboundConfig settings, ConfigErrors errors)
    {
        if (FileNameTemplate.Compile(settings, expressions, errors) is not { } name) return null;
        return () => new FileOutboundAdapter(settings, name, configuration.Section<LimitsConfig>("limits").MaxBodySize.Bytes, logger);
    }
}
