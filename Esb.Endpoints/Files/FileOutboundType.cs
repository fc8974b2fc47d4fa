using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>The type <c>file-outbound</c>.</summary>
internal sealed class FileOutboundType(IExpressionCompiler expressions, LimitsConfig limits) : OutboundEndpointType<FileOutboundConfig>
{
    protected override CreateOutbound? Compile(FileOutboundConfig settings, ConfigErrors errors)
    {
        if (FileNameTemplate.Compile(settings, settings.FileName, expressions, errors) is not { } name)
            return null;
        return services => new FileOutboundAdapter(
            settings,
            name,
            limits.MaxBodySize.Bytes,
            services.GetRequiredService<ILogger<FileOutboundEndpoint>>()
        );
    }
}
