using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests.Endpoints.Mail;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>A host that sends a mail for each order: over a restart, a wrong password and refused recipients.</summary>
[Category("Faults"), CancelAfter(180_000)]
public sealed class MailTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly string _prefix = $"test-{Guid.NewGuid():N}";
    private DirectoryInfo _folder = null!;
    private MailServer _server = null!;
    private HostProcess? _host;

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-mail-");
        _server = new MailServer { Login = "esb:right" };
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "letter.xsl"),
            """
            <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
              <xsl:output method="html"/>
              <xsl:template match="/order"><b><xsl:value-of select="."/></b></xsl:template>
            </xsl:stylesheet>
            """
        );
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "mail",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "topics": { "orders": {} },
              "maps": { "letter": "letter.xsl" },
              "endpoints": {
                "in": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "mailer": {
                  "type": "mail-outbound", "subscribe": ["orders.#"], "url": "smtp://127.0.0.1:{{_server.Port}}", "tls": "none", "user": "esb", "password": "${env:MAIL_PASSWORD}",
                  "from": "shop@example.com", "to": "{header.x-to}", "subject": "Order {header.x-order}", "text": "Thank you.", "html": { "map": "letter" }, "allow": ["example.com"],
                  "retry": { "immediate": 0, "delays": ["1s"] }
                }
              }
            }
            """
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        await _server.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Mail_waits_for_the_right_password_and_is_sent_once(CancellationToken cancellationToken)
    {
        await StartAsync("wrong", cancellationToken);
        await PostAsync("a@example.com", cancellationToken);
        await _host!.WaitAsync(
            _ => Task.FromResult(_server.Commands.Any(line => line.StartsWith("AUTH", StringComparison.Ordinal))),
            Limit,
            "to log in",
            cancellationToken
        );
        await _host.DisposeAsync();
        var before = _server.Received.Count;

        await StartAsync("right", cancellationToken);
        await _host.WaitAsync(_ => Task.FromResult(_server.Received.Count > 0), Limit, "to send the mail", cancellationToken);

        var received = _server.Received.Single();
        Assert.That(
            (before, received.Text, received.Mail.Subject, received.Recipients.Single()),
            Is.EqualTo((0, "Thank you.", "Order A-1", "a@example.com"))
        );
        Assert.That(received.Mail.HtmlBody, Does.Contain("<b>Käse</b>"), "made by the map");
    }

    [Test]
    public async Task Refused_recipient_is_a_dead_letter_and_the_others_have_the_mail_once(CancellationToken cancellationToken)
    {
        var busy = true;
        _server.AnswerTo = address =>
            address switch
            {
                "b@example.com" => "550 5.1.1 no such user",
                "c@example.com" when busy => Postpone(),
                _ => null,
            };
        await StartAsync("right", cancellationToken);

        await PostAsync("a@example.com, b@example.com, c@example.com", cancellationToken);
        JsonElement[] letters = [];
        await _host!.WaitAsync(
            async token =>
                (letters = [.. (await _host.AskAsync("/api/dead-letters", token)).GetProperty("items").EnumerateArray()]).Length == 1,
            Limit,
            "to give up the recipient",
            cancellationToken
        );

        Assert.That(letters[0].GetProperty("code").GetString(), Is.EqualTo("ESB-SMTP-RECIPIENT"));
        Assert.That(_server.Received.SelectMany(mail => mail.Recipients), Is.EqualTo(["a@example.com", "c@example.com"]));
        Assert.That(_server.Received.Select(mail => mail.Mail.MessageId).Distinct().Count(), Is.EqualTo(1), "under one id");

        string Postpone()
        {
            busy = false;
            return "451 4.2.1 busy";
        }
    }

    private async Task StartAsync(string password, CancellationToken cancellationToken) =>
        _host = await HostProcess.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["MAIL_PASSWORD"] = password }
        );

    private async Task PostAsync(string to, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host!.Public, "/orders"))
        {
            Content = new StringContent("<order>Käse</order>", Encoding.UTF8, "application/xml"),
        };
        request.Headers.Add("x-to", to);
        request.Headers.Add("x-order", "A-1");
        using var response = await _host.Client.SendAsync(request, cancellationToken);
        Assert.That((int)response.StatusCode, Is.EqualTo(202));
    }
}
