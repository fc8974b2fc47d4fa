using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>The type <c>file-outbound</c>.</summary>
internal sealed class FileOutboundType(IExpressionCompiler expressions, EsbConfiguration configuration, ILogger<FileOutboundEndpoint> logger)
    : OutboundEndpointType<FileOutboundConfig>
{
    // Compiled once, where they are checked: a compilation adds to what is asked of every document, which nobody may do while messages run.
    private readonly Dictionary<FileOutboundConfig, FileNameTemplate?> _names = new(ReferenceEqualityComparer.Instance);

    protected override void Check(FileOutboundConfig settings, ConfigErrors errors) => _names[settings] = FileNameTemplate.Compile(settings, expressions, errors);

    protected override IOutboundAdapter Create(FileOutboundConfig settings) =>
        new FileOutboundAdapter(settings, _names[settings], configuration.Section<LimitsConfig>("limits").MaxBodySize.Bytes, logger);
}
