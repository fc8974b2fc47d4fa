using Esb.Tests;
using Esb.Tests.Endpoints.Mail;
using MailKit.Net.Smtp;
using MailKit.Security;
using MimeKit;

namespace Esb.IntegrationTests.Speed;

/// <summary>Mails, beside MailKit.</summary>
public sealed partial class AdapterSpeedTests
{
    [TestCase(1), TestCase(8)]
    public async Task Mail_out(int atOnce, CancellationToken cancellationToken)
    {
        await using var server = new MailServer();
        await using var adapter = SomeMail.Create(SomeMail.Config(server.Port));
        var clients = new List<SmtpClient>();
        for (var i = 0; i < atOnce; i++)
        {
            clients.Add(new SmtpClient());
            await clients[i].ConnectAsync("127.0.0.1", server.Port, SecureSocketOptions.None, cancellationToken);
        }

        await CompareAsync(
            "mail-outbound",
            "MailKit",
            atOnce,
            Files,
            () => Task.CompletedTask,
            () => SplitAsync(Files, atOnce, i => clients[i % atOnce].SendAsync(SomeMessage(), cancellationToken)),
            () => SendAllAsync(adapter, Files, atOnce, () => Some.Message(Body), cancellationToken)
        );
        clients.ForEach(client => client.Dispose());
    }

    private static MimeMessage SomeMessage()
    {
        var message = new MimeMessage
        {
            Subject = "Order",
            Body = new TextPart("plain") { Text = Body },
        };
        message.From.Add(MailboxAddress.Parse("shop@example.com"));
        message.To.Add(MailboxAddress.Parse("a@example.com"));
        return message;
    }
}
