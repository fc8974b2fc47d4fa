using Esb.Core.Endpoints;
using Esb.Tests;
using Esb.Tests.Endpoints.Contracts;

namespace Esb.IntegrationTests.Sftp;

[TestFixture]
internal sealed class SftpOutboundContract : OutboundEndpointContract
{
    private SshServer _server = null!;

    [SetUp]
    public async Task StartServer() => _server = await SshServer.StartAsync();

    [TearDown]
    public async Task StopServer() => await _server.DisposeAsync();

    protected override IOutboundAdapter Create() => SomeSftp.Outbound(SomeSftp.OutboundConfig(_server));

    protected override IOutboundAdapter CreateAway() =>
        SomeSftp.Outbound(SomeSftp.OutboundConfig(_server) with { Url = $"sftp://esb@127.0.0.1:{FreePorts.Next()}/in" });

    protected override async Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken) =>
        await Task.WhenAll(Directory.GetFiles(_server.Files).Select(file => File.ReadAllTextAsync(file, cancellationToken)));
}
