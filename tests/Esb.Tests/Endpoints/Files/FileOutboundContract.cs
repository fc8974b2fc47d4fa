using Esb.Core.Endpoints;
using Esb.Endpoints.Files;
using Esb.Tests.Endpoints.Contracts;

namespace Esb.Tests.Endpoints.Files;

[TestFixture]
internal sealed class FileOutboundContract : OutboundEndpointContract
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    protected override IOutboundAdapter Create() => SomeFiles.Outbound(_folder.FullName);

    protected override IOutboundAdapter CreateAway()
    {
        var file = Path.Combine(_folder.FullName, "no-folder");
        File.WriteAllText(file, "");
        return SomeFiles.Outbound(Path.Combine(file, "orders"));
    }

    protected override async Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken) =>
        await Task.WhenAll(Directory.GetFiles(_folder.FullName).Select(file => File.ReadAllTextAsync(file, cancellationToken)));
}
