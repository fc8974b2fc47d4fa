using System.Text;
using Esb.Content.Transforms;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Endpoints.Mail;
using Esb.Tests.Content;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Mail;

[CancelAfter(60_000)]
public sealed class MailOutboundTests
{
    private MailServer _server = null!;

    private MailOutboundConfig Config => SomeMail.Config(_server.Port);

    [SetUp]
    public void StartServer() => _server = new MailServer();

    [TearDown]
    public async Task StopServer() => await _server.DisposeAsync();

    [Test]
    public async Task Mail_has_what_the_templates_say(CancellationToken cancellationToken)
    {
        var config = Config with
        {
            From = "Käse & Co <shop@example.com>",
            To = ["{header.x-to}"],
            Cc = ["c@example.com"],
            Bcc = ["d@example.com"],
            Text = new() { Template = "Hello {header.x-name}" },
            Html = new() { Template = "<b>Hello</b>" },
            Attachments =
            [
                new MailAttachmentConfig
                {
                    FileName = "{header.x-name}.xml",
                    Body = new ValueConfig { Message = MessagePart.Body },
                    ContentType = "application/xml",
                },
            ],
        };
        var message = Some.Message("<order>Käse</order>") with
        {
            Headers = MessageHeaders.Empty.With("x-to", "Ann <a@example.com>, b@example.com").With("x-name", "Jürgen"),
        };

        var failure = await SomeMail.Create(config).TryAsync(message, cancellationToken);

        var received = _server.Received.Single();
        using var mail = received.Mail;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure, Is.Null);
            Assert.That(received.Sender, Is.EqualTo("shop@example.com"));
            Assert.That(received.Recipients, Is.EqualTo(["a@example.com", "b@example.com", "c@example.com", "d@example.com"]));
            Assert.That(mail.From.ToString(), Does.Contain("shop@example.com"));
            Assert.That(mail.To.Mailboxes.Select(to => to.Address), Is.EqualTo(["a@example.com", "b@example.com"]));
            Assert.That(Encoding.UTF8.GetString(received.Bytes), Does.Not.Contain("d@example.com"), "nobody sees it");
            Assert.That(mail.Subject, Is.EqualTo($"Order {message.Id}"));
            Assert.That(mail.MessageId, Is.EqualTo($"{message.Id}@shop-bus"));
            Assert.That((received.Text, mail.HtmlBody!.Trim()), Is.EqualTo(("Hello Jürgen", "<b>Hello</b>")));
            var attachment = (MimeKit.MimePart)mail.Attachments.Single();
            Assert.That(
                (attachment.FileName, attachment.ContentType.MimeType, Content(attachment)),
                Is.EqualTo(("Jürgen.xml", "application/xml", "<order>Käse</order>"))
            );
        }
    }

    [Test]
    public async Task Map_of_a_text_sees_the_message_with_its_headers_and_properties(CancellationToken cancellationToken)
    {
        using var content = SomeContent.Configure(
            """{ "maps": { "html": { "file": "mail.liquid", "contentType": "text/html" }, "text": "mail.js" } }""",
            (
                "mail.liquid",
                "<p>{{ headers['x-name'] }} of {{ properties.region }}: {{ input.note }} ({{ message.subject }} {{ message.id }})</p>"
            ),
            ("mail.js", "export default (input, context) => `${context.headers['x-name']}: ${input.note} ${context.properties.region}`;")
        );
        var message = Some.Message("""{ "note": "a < b" }""", contentType: "application/json") with
        {
            Subject = "orders.new",
            Headers = MessageHeaders.Empty.With("X-Name", "Käse & Co"),
            Properties = new Dictionary<string, object> { ["region"] = "north" },
        };

        var failure = await SomeMail
            .Create(
                Config with
                {
                    Html = new() { Map = "html" },
                    Text = new() { Map = "text" },
                },
                models: content.Get<MapModels>(),
                maps: content.Get<IMapCatalog>()
            )
            .TryAsync(message, cancellationToken);

        Assert.That((failure, content.Errors.Count), Is.EqualTo(((object?)null, 0)));
        using var mail = _server.Received.Single().Mail;
        Assert.That(
            (mail.HtmlBody!.Trim(), mail.TextBody!.Trim()),
            Is.EqualTo(($"<p>Käse &amp; Co of north: a &lt; b (orders.new {message.Id})</p>", "Käse & Co: a < b north"))
        );
    }

    [TestCase("text/plain", "Käse", TestName = "Text_body_is_the_text_of_a_mail_without_one")]
    [TestCase("application/xml", "<order/>", TestName = "Other_body_is_the_attachment_of_a_mail_without_text")]
    public async Task Whole_body_is_sent(string contentType, string body, CancellationToken cancellationToken)
    {
        await SomeMail.Create(Config).TryAsync(Some.Message(body, contentType: contentType), cancellationToken);

        using var mail = _server.Received.Single().Mail;
        if (contentType == "text/plain")
            Assert.That((mail.TextBody!.Trim(), mail.Attachments.Count()), Is.EqualTo((body, 0)));
        else
            Assert.That(
                (((MimeKit.MimePart)mail.BodyParts.Single()).FileName, Content((MimeKit.MimePart)mail.BodyParts.Single())),
                Is.EqualTo(("message.xml", body))
            );
    }

    [Property("Case", "SMT-01")]
    [TestCase("a@example.com\r\nBcc: b@example.com"), TestCase("a@example.com\nX: y"), TestCase("a@example.com\0")]
    [TestCase("=?utf-8?q?a=0D=0ABcc=3A_b?= <a@example.com>")]
    public async Task Line_breaks_in_an_address_are_refused(string to, CancellationToken cancellationToken) =>
        await AssertRefusedAsync(Config with { To = [to] }, "ESB-SMTP-INJECTION", cancellationToken);

    [Test, Property("Case", "SMT-01")]
    public async Task Line_breaks_in_sender_subject_or_the_name_of_an_attachment_are_refused(CancellationToken cancellationToken)
    {
        const string forged = "x\r\nBcc: b@example.com";
        await AssertRefusedAsync(Config with { Subject = forged }, "ESB-SMTP-INJECTION", cancellationToken);
        await AssertRefusedAsync(Config with { From = $"a@example.com{forged}" }, "ESB-SMTP-INJECTION", cancellationToken);
        await AssertRefusedAsync(
            Config with
            {
                Attachments =
                [
                    new MailAttachmentConfig
                    {
                        FileName = forged,
                        Body = new ValueConfig { Message = MessagePart.Body },
                    },
                ],
            },
            "ESB-SMTP-INJECTION",
            cancellationToken
        );
    }

    [Property("Case", "SMT-02")]
    [TestCase("\"a\r\nRCPT TO:<b@example.com>\"@example.com"), TestCase("\"a\\\r\n b\"@example.com")]
    public async Task Line_breaks_in_a_quoted_local_part_are_refused(string to, CancellationToken cancellationToken) =>
        await AssertRefusedAsync(Config with { To = [to] }, "ESB-SMTP-INJECTION", cancellationToken);

    [Property("Case", "SMT-03")]
    [
        TestCase(""),
        TestCase("nobody"),
        TestCase("@example.com"),
        TestCase("a@"),
        TestCase("a@b@c"),
        TestCase("a@exam ple.com"),
        TestCase("friends: a@example.com;")
    ]
    public async Task Invalid_recipient_is_refused_without_naming_a_person(string to, CancellationToken cancellationToken)
    {
        var failure = await AssertRefusedAsync(Config with { To = [to] }, "ESB-SMTP-ADDRESS", cancellationToken);

        Assert.That(failure, Does.Not.Contain("nobody"));
    }

    [Test, Property("Case", "SMT-04")]
    public async Task Too_many_recipients_are_refused([Values(101, 10_000)] int count, CancellationToken cancellationToken) =>
        await AssertRefusedAsync(
            Config with
            {
                To = [string.Join(',', Enumerable.Range(0, count).Select(number => $"a{number}@example.com"))],
            },
            "ESB-SMTP-RECIPIENTS",
            cancellationToken
        );

    [Property("Case", "SMT-05")]
    [TestCase("a@example.org"), TestCase("a@sub.example.com"), TestCase("a@notexample.net"), TestCase("a@example.com.evil.org")]
    public async Task Recipient_outside_of_the_allowed_domains_is_refused(string to, CancellationToken cancellationToken) =>
        await AssertRefusedAsync(
            Config with
            {
                To = ["a@example.com", to],
                Allow = ["example.com", "*.example.net"],
            },
            "ESB-SMTP-DOMAIN",
            cancellationToken
        );

    [Test, Property("Case", "SMT-05")]
    public async Task Recipients_in_the_allowed_domains_get_it(CancellationToken cancellationToken)
    {
        await SomeMail
            .Create(Config with { To = ["a@EXAMPLE.com, b@mail.example.net"], Allow = ["example.com", "*.example.net"] })
            .TryAsync(Some.Message(), cancellationToken);

        Assert.That(_server.Received.Single().Recipients, Has.Count.EqualTo(2));
    }

    [Test, Property("Case", "SMT-06")]
    public async Task Attachments_over_the_limit_are_refused(CancellationToken cancellationToken)
    {
        var body = new ValueConfig { Message = MessagePart.Body };
        var config = Config with { Attachments = [new() { FileName = "a", Body = body }, new() { FileName = "b", Body = body }] };

        var failure = await SomeMail
            .Create(config)
            .TryAsync(Some.Message(new string('x', (SomeMail.MaxBodyBytes / 2) + 1)), cancellationToken);

        Assert.That((failure!.Code, failure.IsTransient, _server.Commands.Count), Is.EqualTo(("ESB-SMTP-SIZE", false, 0)));
    }

    [Test, Property("Case", "SMT-08")]
    public async Task Greylisted_mail_is_sent_later_with_the_same_id(CancellationToken cancellationToken)
    {
        var tries = 0;
        _server.AnswerTo = _ => tries++ == 0 ? "451 4.7.1 try again later" : null;
        var (mailer, message) = (SomeMail.Create(Config), Some.Message());

        var first = await mailer.TryAsync(message, cancellationToken);
        var second = await mailer.TryAsync(message, cancellationToken);

        Assert.That((first!.Code, first.IsTransient, first.IsOutage, second), Is.EqualTo(("ESB-SMTP-LATER", true, false, (object?)null)));
        Assert.That(_server.Received.Single().Mail.MessageId, Is.EqualTo($"{message.Id}@shop-bus"));
    }

    [Test, Property("Case", "SMT-09")]
    public async Task Recipients_that_have_the_mail_or_were_refused_for_good_are_not_tried_again(CancellationToken cancellationToken)
    {
        var marks = new KeptMarks();
        _server.AnswerTo = address =>
            address switch
            {
                "b@example.com" => "550 5.1.1 no such user",
                "c@example.com" => "450 4.2.1 busy",
                _ => null,
            };
        var config = Config with { To = ["a@example.com", "b@example.com", "c@example.com", "d@example.com", "e@example.com"] };
        var message = Some.Message();

        var first = await SomeMail.Create(config, marks).TryAsync(message, cancellationToken);
        _server.AnswerTo = _ => null;
        var second = await SomeMail.Create(config, marks).TryAsync(message, cancellationToken);
        var third = await SomeMail.Create(config, marks).TryAsync(message, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That((first!.Code, first.IsTransient), Is.EqualTo(("ESB-SMTP-LATER", true)));
            Assert.That(
                (second!.Code, second.IsTransient),
                Is.EqualTo(("ESB-SMTP-RECIPIENT", false)),
                "the one that was refused is told at the end"
            );
            Assert.That(second.Message, Does.Contain("1 of 5").And.Contain("550").And.Not.Contain("b@"));
            Assert.That(third!.Code, Is.EqualTo("ESB-SMTP-RECIPIENT"));
            Assert.That(
                _server.Received.Select(mail => string.Join(' ', mail.Recipients)),
                Is.EqualTo(["a@example.com d@example.com e@example.com", "c@example.com"])
            );
        }
    }

    [Test, Property("Case", "SMT-10")]
    public async Task Lost_answer_is_retried_with_the_same_id_and_told_as_a_possible_duplicate(CancellationToken cancellationToken)
    {
        _server.AnswerToMail = () => null;
        var (mailer, message) = (SomeMail.Create(Config), Some.Message());

        var first = await mailer.TryAsync(message, cancellationToken);
        _server.AnswerToMail = () => "250 taken";
        await mailer.TryAsync(message, cancellationToken);

        Assert.That((first!.Code, first.IsTransient, first.IsUnanswered), Is.EqualTo(("ESB-SMTP-UNKNOWN", true, true)));
        Assert.That(first.Message, Does.Contain("duplicate"));
        Assert.That(_server.Received.Single().Mail.MessageId, Is.EqualTo($"{message.Id}@shop-bus"));
    }

    [Test]
    public async Task Connection_lost_before_the_mail_was_sent_is_no_possible_duplicate(CancellationToken cancellationToken)
    {
        _server.Before = line =>
            line.StartsWith("RCPT", StringComparison.Ordinal) ? throw new IOException("The server dies.") : Task.CompletedTask;

        var failure = await SomeMail.Create(Config).TryAsync(Some.Message(), cancellationToken);

        Assert.That((failure!.Code, failure.IsTransient), Is.EqualTo(("ESB-SMTP-LOST", true)));
    }

    [
        TestCase("550 5.7.1 spam", "ESB-SMTP-REFUSED", false),
        TestCase("552 5.3.4 too large", "ESB-SMTP-SIZE", false),
        TestCase("451 4.3.0 later", "ESB-SMTP-LATER", true),
        TestCase("452 4.3.1 disk full", "ESB-SMTP-LATER", true)
    ]
    public async Task Refused_mail_is_told_by_its_status(string answer, string code, bool isTransient, CancellationToken cancellationToken)
    {
        _server.AnswerToMail = () => answer;

        var failure = await SomeMail.Create(Config).TryAsync(Some.Message(), cancellationToken);

        Assert.That((failure!.Code, failure.IsTransient), Is.EqualTo((code, isTransient)));
        Assert.That(failure.Message, Does.Contain(answer[..3]));
    }

    [Test, Property("Case", "SMT-11")]
    public async Task Wrong_password_is_tried_once_a_minute_and_the_corrected_one_at_once(CancellationToken cancellationToken)
    {
        var time = new ManualTime();
        _server.Login = "esb:right";
        var mailer = SomeMail.Create(Config with { User = "esb", Password = "wrong" }, time: time);

        var failures = new[]
        {
            await mailer.TryAsync(Some.Message(), cancellationToken),
            await mailer.TryAsync(Some.Message(), cancellationToken),
        };
        time.Advance(TimeSpan.FromSeconds(61));
        await mailer.TryAsync(Some.Message(), cancellationToken);
        var corrected = await SomeMail
            .Create(Config with { User = "esb", Password = "right" }, time: time)
            .TryAsync(Some.Message(), cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                failures.Select(failure => (failure!.Code, failure.IsTransient, failure.IsOutage)),
                Is.All.EqualTo(("ESB-SMTP-AUTH", true, true))
            );
            Assert.That(
                _server.Commands.Count(line => line.StartsWith("AUTH", StringComparison.Ordinal)),
                Is.EqualTo(3),
                "two with the wrong one, a minute apart"
            );
            Assert.That(corrected, Is.Null);
            Assert.That(_server.Received, Has.Count.EqualTo(1));
        }
    }

    [Property("Case", "SMT-12")]
    [TestCase(".\r\n..\r\n.hidden\r\n", TestName = "Lone_dots_arrive")]
    [TestCase("Käse, 漢字, 😀 and \u00a0", TestName = "Every_script_arrives")]
    public async Task Odd_texts_arrive_as_they_were(string text, CancellationToken cancellationToken)
    {
        await SomeMail.Create(Config).TryAsync(Some.Message(text, contentType: "text/plain"), cancellationToken);

        Assert.That(_server.Received.Single().Text, Is.EqualTo(text.TrimEnd('\r', '\n')));
    }

    [Test, Property("Case", "SMT-12")]
    public async Task Long_lines_arrive_whole(CancellationToken cancellationToken)
    {
        var text = string.Join("\r\n", new string('x', 2000), ".", new string('ä', 2000));

        await SomeMail.Create(Config).TryAsync(Some.Message(text, contentType: "text/plain"), cancellationToken);

        var received = _server.Received.Single();
        Assert.That(received.Text, Is.EqualTo(text));
        Assert.That(
            Encoding.ASCII.GetString(received.Bytes).Split("\r\n").Max(line => line.Length),
            Is.LessThanOrEqualTo(998),
            "RFC 5322, section 2.1.1"
        );
    }

    [Test]
    public async Task Silent_server_does_not_hold_a_send_beyond_its_cancellation(CancellationToken cancellationToken)
    {
        var silent = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.Before = line =>
        {
            if (!line.StartsWith("MAIL", StringComparison.Ordinal))
                return Task.CompletedTask;
            asked.TrySetResult();
            return silent.Task;
        };
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        using var instance = (MailOutboundEndpoint)SomeMail.Create(Config).CreateInstance();

        var sending = instance.SendAsync(Some.Message(), timeout.Token).AsTask();
        await asked.Task.WaitAsync(cancellationToken);
        await timeout.CancelAsync();

        Assert.That(() => sending.WaitAsync(cancellationToken), Throws.InstanceOf<OperationCanceledException>());
        _server.Before = _ => Task.CompletedTask;
        silent.SetResult();
        await instance.SendAsync(Some.Message(), cancellationToken);
        Assert.That(_server.Received, Has.Count.EqualTo(1), "the instance goes on with a new connection");
    }

    [Test]
    public async Task Connection_is_kept_for_the_next_mail_and_replaced_when_the_server_has_closed_it(CancellationToken cancellationToken)
    {
        using var instance = (MailOutboundEndpoint)SomeMail.Create(Config).CreateInstance();

        for (var i = 0; i < 3; i++)
            await instance.SendAsync(Some.Message(), cancellationToken);
        var connections = Connections();
        _server.Before = line =>
            line.StartsWith("NOOP", StringComparison.Ordinal) ? throw new IOException("The server has closed it.") : Task.CompletedTask;
        await instance.SendAsync(Some.Message(), cancellationToken);

        Assert.That((connections, Connections(), _server.Received.Count), Is.EqualTo((1, 2, 4)));

        int Connections() => _server.Commands.Count(line => line.StartsWith("EHLO", StringComparison.Ordinal));
    }

    private static string Content(MimeKit.MimePart part)
    {
        using var content = new MemoryStream();
        part.Content!.DecodeTo(content);
        return Encoding.UTF8.GetString(content.ToArray());
    }

    private async Task<string> AssertRefusedAsync(MailOutboundConfig config, string code, CancellationToken cancellationToken)
    {
        var failure = await SomeMail.Create(config).TryAsync(Some.Message(), cancellationToken);

        Assert.That(
            (failure?.Code, failure?.IsTransient, failure?.IsUnsent, _server.Commands.Count),
            Is.EqualTo((code, false, true, 0)),
            "nothing was sent"
        );
        return failure!.Message;
    }
}
