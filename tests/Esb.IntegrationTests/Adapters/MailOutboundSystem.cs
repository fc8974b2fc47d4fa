using System.Collections.Concurrent;
using Esb.Tests.Endpoints.Mail;

namespace Esb.IntegrationTests.Adapters;

/// <summary>A mail server with a login.</summary>
internal sealed class MailOutboundSystem : AdapterSystem
{
    private readonly ConcurrentQueue<MailServer> _servers = new([new MailServer { Login = "esb:right" }]); // the last one is up

    public override bool IsInbound => false;

    public override string ContentType => "text/plain";

    public override string Endpoint(string credential) =>
        $$"""
            "type": "mail-outbound", "url": "smtp://127.0.0.1:{{Proxy.Port}}", "tls": "none", "user": "esb", "password": "${env:{{credential}}}",
            "from": "shop@example.com", "to": "a@example.com", "subject": "An item"
            """;

    public override Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Arrival>>([
            .. _servers.SelectMany(server => server.Received).Select(mail => ArrivalOf(mail.Mail.MessageId!, mail.Text)),
        ]);

    public override Task KillAsync() => _servers.Last().DisposeAsync().AsTask();

    public override Task StartAgainAsync()
    {
        _servers.Enqueue(new MailServer(Proxy.ServerPort) { Login = "esb:right" });
        return Task.CompletedTask;
    }

    protected override Task<int?> PrepareAsync() => Task.FromResult<int?>(_servers.Last().Port);

    protected override (string Right, string Wrong) Credentials() => ("right", "wrong");

    protected override Task StopAsync() => KillAsync();
}
