using Esb.Core.Endpoints;
using Esb.Tests.Endpoints.Contracts;

namespace Esb.Tests.Endpoints.Mail;

[TestFixture]
internal sealed class MailOutboundContract : OutboundEndpointContract
{
    private MailServer _server = null!;

    [SetUp]
    public void StartServer() => _server = new MailServer();

    [TearDown]
    public async Task StopServer() => await _server.DisposeAsync();

    protected override IOutboundAdapter Create() =>
        SomeMail.Create(SomeMail.Config(_server.Port) with { Text = new() { Template = "{message.body}" } });

    protected override IOutboundAdapter CreateAway() => SomeMail.Create(SomeMail.Config(FreePorts.Next()));

    protected override Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<string>>([.. _server.Received.Select(mail => mail.Text)]);
}
