using Esb.Configuration;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;
using Esb.Tests.Endpoints.Contracts.Inbound;
using Esb.Tests.Endpoints.Files;

namespace Esb.IntegrationTests.Sftp;

[TestFixture]
internal sealed class SftpInboundContract : InboundEndpointContract
{
    private SshServer _server = null!;
    private ToldOverload _overload = null!;
    private int _files;

    protected override bool Waits => true;

    protected override IntakeHold IntakeHold { get; } = new("partner", TimeProvider.System);

    protected override int Asked => _overload.Asked;

    [SetUp]
    public async Task StartServer() => (_server, _overload) = (await SshServer.StartAsync(), new ToldOverload(new LimitsConfig()));

    [TearDown]
    public async Task StopServer() => await _server.DisposeAsync();

    protected override Task<IInboundEndpoint> CreateAsync() =>
        Task.FromResult<IInboundEndpoint>(
            SomeSftp.Inbound(
                SomeSftp.InboundConfig(_server) with
                {
                    MaxConcurrentCalls = AtOnce,
                    PoolSize = AtOnce,
                    After = "move:done",
                },
                Intake,
                audit: AuditGate,
                overload: _overload.Gate,
                hold: IntakeHold
            )
        );

    protected override async Task<SenderVerdict> SendAsync(string body, CancellationToken cancellationToken)
    {
        var name = $"{Interlocked.Increment(ref _files)}.xml";
        await _server.PutAsync(name, body, cancellationToken);
        while (true)
        {
            if (File.Exists(_server.At("done", name)))
                return SenderVerdict.Accepted;
            if (File.Exists(_server.At("error", $"{name}.reason.txt")))
                return SenderVerdict.Refused;
            await Task.Delay(5, cancellationToken);
        }
    }

    protected override void Overload(bool isOverloaded) => _overload.Memory = isOverloaded ? 90 : 10;
}
