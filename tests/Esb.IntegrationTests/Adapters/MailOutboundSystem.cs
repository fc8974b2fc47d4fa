using Esb.Tests.Endpoints.Mail;

namespace Esb.IntegrationTests.Adapters;

/// <summary>A mail server with a login.</summary>
internal sealed class MailOutboundSystem : AdapterSystem
{
    private readonly MailServer _server = new() { Login = "esb:right" };

    public override bool IsInbound => false;

    public override string ContentType => "text/plain";

    public override string Endpoint(string credential) =>
        $$"""
            "type": "mail-outbound", "url": "smtp://127.0.0.1:{{Proxy.Port}}", "tls": "none", "user": "esb", "password": "${env:{{credential}}}",
            "from": "shop@example.com", "to": "a@example.com", "subject": "An item"
            """;

    public override Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Arrival>>([
            .. _server.Received.Select(mail => new Arrival(mail.Mail.MessageId!, NumberIn(mail.Text))),
        ]);

    protected override Task<int?> PrepareAsync() => Task.FromResult<int?>(_server.Port);

    protected override (string Right, string Wrong) Credentials() => ("right", "wrong");

    protected override Task StopAsync() => _server.DisposeAsync().AsTask();
}
