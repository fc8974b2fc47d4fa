using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Network;
using Esb.IntegrationTests.Mail;
using Esb.Tests.Endpoints.Mail;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>A host that sends a mail for each order: over kills, lost connections, a wrong password, a full server and refused
/// recipients.</summary>
[CancelAfter(180_000)]
public sealed class MailTests
{
    private const int Orders = 60;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private DirectoryInfo _folder = null!;
    private MailServer _server = null!;
    private RunningHost? _host;

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
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "test-{{Guid.NewGuid():N}}" },
              "topics": { "orders": {} },
              "maps": { "letter": "letter.xsl" },
              "endpoints": {
                "in": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "mailer": {
                  "type": "mail-outbound", "subscribe": ["orders.#"], "url": "smtp://127.0.0.1:{{_server.Port}}", "tls": { "mode": "none" }, "user": "esb", "password": "${env:MAIL_PASSWORD}",
                  "from": "shop@example.com", "to": "{header.x-to}", "subject": "Order {header.x-order}", "text": "Thank you.", "html": { "map": "letter" }, "allow": ["example.com"],
                  "retry": { "immediate": 0, "delays": ["1s", "1s", "1s", "1s"] }
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
    public async Task Order_is_a_mail_at_a_server_that_is_not_ours(CancellationToken cancellationToken)
    {
        await using var server = await AioSmtpd.StartAsync();
        await StartAsync("right", cancellationToken, server.Port, server.Authority);

        await PostAsync("Ann <a@example.com>, b@example.com", cancellationToken);
        await _host!.WaitAsync(_ => Task.FromResult(server.Received().Count > 0), Limit, "to send the mail", cancellationToken);

        using var mail = server.Received().Single();
        Assert.That(
            (mail.Subject, mail.TextBody!.Trim(), mail.Headers["X-MailFrom"], mail.Headers["X-RcptTo"]),
            Is.EqualTo(("Order A-1", "Thank you.", "shop@example.com", "a@example.com, b@example.com"))
        );
        Assert.That(mail.HtmlBody, Does.Contain("<b>Käse</b>"), "made by the map");
    }

    [Test, Category("Thorough")]
    public async Task Order_is_a_mail_at_postfix(CancellationToken cancellationToken)
    {
        await using var server = await Postfix.StartAsync();
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            (await File.ReadAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), cancellationToken)).Replace(
                "\"user\": \"esb\", \"password\": \"${env:MAIL_PASSWORD}\",",
                "", // it has no logins
                StringComparison.Ordinal
            ),
            cancellationToken
        );
        await StartAsync("right", cancellationToken, server.Port, server.Authority);

        await PostAsync("Ann <a@example.com>, b@example.com", cancellationToken);
        await _host!.WaitAsync(_ => Task.FromResult(server.Delivered().Count == 2), Limit, "to send the mail", cancellationToken);

        var mails = server.Delivered();
        Assert.That(mails.Select(mail => mail.Headers["Delivered-To"]), Is.EquivalentTo(["a@example.com", "b@example.com"]));
        Assert.That(mails.Select(mail => mail.MessageId).Distinct().Count(), Is.EqualTo(1));
        Assert.That((mails[0].Subject, mails[0].TextBody!.Trim()), Is.EqualTo(("Order A-1", "Thank you.")));
        Assert.That(mails[0].HtmlBody, Does.Contain("<b>Käse</b>"), "made by the map");
    }

    [Test, Category("Faults")]
    [OwnProcess]
    public async Task No_mail_is_lost_over_kills_of_the_host_and_copies_have_one_id(CancellationToken cancellationToken)
    {
        var (taken, posted) = (0, Posting());
        using var reached = new SemaphoreSlim(0);
        using var killed = new SemaphoreSlim(0);
        _server.AnswerToMail = () =>
        {
            if (++taken is Orders / 4 or Orders / 2 or Orders * 3 / 4)
            {
                reached.Release();
                killed.Wait(cancellationToken);
            }

            return "250 taken"; // which the host that was killed does not hear
        };
        await StartAsync("right", cancellationToken);
        await PostAllAsync(posted, cancellationToken);

        for (var kill = 0; kill < 3; kill++)
        {
            await reached.WaitAsync(cancellationToken);
            _host!.Kill();
            await _host.DisposeAsync();
            killed.Release();
            await StartAsync("right", cancellationToken);
        }

        await WaitForAllAsync(cancellationToken);
        AssertNoneLost();
        Assert.That(_server.Received, Has.Count.AtLeast(Orders + 3), "the host that was killed had sent one more");
    }

    [Test, Category("Faults")]
    public async Task No_mail_is_lost_over_connections_that_are_reset_and_copies_have_one_id(CancellationToken cancellationToken)
    {
        var posted = Posting();
        await using var proxy = await NetworkProxies.StartAsync(_server.Port, TestContext.Out.WriteLine);
        await StartAsync("right", cancellationToken, proxy.Port);
        await PostAllAsync(posted, cancellationToken);

        for (var reset = 1; reset <= 5; reset++)
        {
            var enough = reset * Orders / 6;
            await _host!.WaitAsync(_ => Task.FromResult(Subjects() >= enough), Limit, $"to send {enough} mails", cancellationToken);
            await proxy.ResetAsync();
            await Task.Delay(200, cancellationToken);
            await proxy.HealAsync();
        }

        await WaitForAllAsync(cancellationToken);
        AssertNoneLost();
        Assert.That(
            _server.Commands.Count(line => line.StartsWith("EHLO", StringComparison.Ordinal)),
            Is.GreaterThan(1),
            "resets ended connections"
        );
    }

    [Test, Category("Thorough"), Property("Case", "SMT-08")]
    public async Task Mail_to_a_server_that_is_full_is_sent_once_there_is_space(CancellationToken cancellationToken)
    {
        var asked = 0;
        _server.AnswerToMail = () => ++asked <= 2 ? "452 4.3.1 insufficient system storage" : "250 taken";
        await StartAsync("right", cancellationToken);

        await PostAsync("a@example.com", cancellationToken);
        await _host!.WaitAsync(_ => Task.FromResult(_server.Received.Count > 0), Limit, "to send the mail", cancellationToken);

        Assert.That((asked, _server.Received.Count), Is.EqualTo((3, 1)));
        Assert.That(
            (await _host.AskAsync("/api/dead-letters", cancellationToken)).GetProperty("items").EnumerateArray(),
            Is.Empty,
            _host.Output
        );
    }

    [Test, Category("Faults")]
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

    [Test, Category("Faults")]
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

    // The server takes nothing before all orders are posted.
    private TaskCompletionSource Posting()
    {
        var posted = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.Before = line => line == "DATA" ? posted.Task : Task.CompletedTask;
        return posted;
    }

    private async Task PostAllAsync(TaskCompletionSource posted, CancellationToken cancellationToken)
    {
        for (var order = 0; order < Orders; order++)
            await PostAsync("a@example.com", cancellationToken, $"A-{order}");
        posted.SetResult();
    }

    private int Subjects() => _server.Received.Select(mail => mail.Mail.Subject).Distinct().Count();

    private Task WaitForAllAsync(CancellationToken cancellationToken) =>
        _host!.WaitAsync(_ => Task.FromResult(Subjects() == Orders), Limit, "to send all mails", cancellationToken);

    private void AssertNoneLost()
    {
        var copies = _server.Received.GroupBy(mail => mail.Mail.Subject, mail => mail.Mail.MessageId).ToList();
        Assert.That(
            copies.Select(mails => mails.Key),
            Is.EquivalentTo(Enumerable.Range(0, Orders).Select(order => $"Order A-{order}")),
            "none is lost"
        );
        Assert.That(copies.Select(mails => mails.Distinct().Count()), Is.All.EqualTo(1), "a copy has the id of the first");
    }

    private async Task StartAsync(string password, CancellationToken cancellationToken, int? port = null, string? authority = null)
    {
        var variables = new Dictionary<string, string>
        {
            ["ESB_RABBITMQ"] = Servers.RabbitMq,
            ["MAIL_PASSWORD"] = password,
            ["ESB__ENDPOINTS__MAILER__URL"] = $"smtp://127.0.0.1:{port ?? _server.Port}",
        };
        if (authority is not null)
            (variables["ESB__ENDPOINTS__MAILER__TLS__MODE"], variables["ESB__ENDPOINTS__MAILER__TLS__CA"]) = ("required", authority);
        _host = await RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            variables
        );
    }

    private async Task PostAsync(string to, CancellationToken cancellationToken, string order = "A-1")
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host!.Public, "/orders"))
        {
            Content = new StringContent("<order>Käse</order>", Encoding.UTF8, "application/xml"),
        };
        request.Headers.Add("x-to", to);
        request.Headers.Add("x-order", order);
        using var response = await _host.Client.SendAsync(request, cancellationToken);
        Assert.That((int)response.StatusCode, Is.EqualTo(202));
    }
}
