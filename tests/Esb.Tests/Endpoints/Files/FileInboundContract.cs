using Esb.Configuration;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;
using Esb.Tests.Endpoints.Contracts.Inbound;

namespace Esb.Tests.Endpoints.Files;

[TestFixture]
internal sealed class FileInboundContract : InboundEndpointContract
{
    private DirectoryInfo _folder = null!;
    private ToldOverload _overload = null!;
    private int _files;

    protected override bool Waits => true;

    protected override IntakeHold IntakeHold { get; } = new("drop-box", TimeProvider.System);

    protected override int Asked => _overload.Asked;

    [SetUp]
    public void CreateFolder() => (_folder, _overload) = (Directory.CreateTempSubdirectory("esb-"), new ToldOverload(new LimitsConfig()));

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    protected override Task<IInboundEndpoint> CreateAsync() =>
        Task.FromResult<IInboundEndpoint>(
            SomeFiles.Inbound(
                SomeFiles.InboundConfig(_folder.FullName) with
                {
                    MaxConcurrentCalls = AtOnce,
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
        var unfinished = Path.Combine(_folder.FullName, $"{name}.part");
        await File.WriteAllTextAsync(unfinished, body, cancellationToken);
        File.Move(unfinished, Path.Combine(_folder.FullName, name));
        while (true)
        {
            if (File.Exists(Path.Combine(_folder.FullName, "done", name)))
                return SenderVerdict.Accepted;
            if (File.Exists(Path.Combine(_folder.FullName, "error", $"{name}.reason.txt")))
                return SenderVerdict.Refused;
            await Task.Delay(5, cancellationToken);
        }
    }

    protected override void Overload(bool isOverloaded) => _overload.Memory = isOverloaded ? 90 : 10;
}
