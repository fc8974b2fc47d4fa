using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Endpoints.Files;
using Esb.Tests.Endpoints.Contracts;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Files;

/// <summary>Builds endpoints of files for tests.</summary>
internal static class SomeFiles
{
    public static FileOutboundConfig OutboundConfig(string folder, string fileName = "{message.id}.xml", FileExistsRule ifExists = FileExistsRule.Fail) =>
        new() { Name = "orders-out", Path = "endpoints.orders-out", Folder = folder, FileName = fileName, IfExists = ifExists };

    public static IOutboundAdapter Outbound(string folder, string fileName = "{message.id}.xml", FileExistsRule ifExists = FileExistsRule.Fail)
    {
        var config = OutboundConfig(folder, fileName, ifExists);
        var name = new Lazy<FileNameTemplate>(() => FileNameTemplate.Compile(config, new PlainExpressions(), new ConfigErrors())!);
        return new FileOutboundAdapter(config, name, maxBodyBytes: 4 << 20, NullLogger<FileOutboundEndpoint>.Instance);
    }
}
