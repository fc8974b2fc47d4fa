using System.IO.Compression;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Tests.Workflows.Processes;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Content.Codecs;

/// <summary>Bodies of several parts: MIME, and archives whose entries are divided.</summary>
[CancelAfter(30_000)]
public sealed class MimeTests
{
    private const string Mail = """
        MIME-Version: 1.0
        Content-Type: multipart/mixed; boundary="b1"

        --b1
        Content-Type: application/xml; charset=utf-8

        <order/>
        --b1
        Content-Type: application/pdf; name="a.pdf"
        Content-Disposition: attachment; filename="../up/a.pdf"
        Content-Transfer-Encoding: base64

        AAEC
        --b1--
        """;

    [Test]
    public async Task Root_part_is_the_body_and_the_others_are_listed(CancellationToken cancellationToken)
    {
        var context = await RunAsync("""[{ "decode": "mime" }]""", Some.Message(Mail), cancellationToken);

        Assert.That(
            (context.Message.Body.ReadText(), context.Message.ContentType),
            Is.EqualTo(("<order/>", "application/xml; charset=utf-8"))
        );
        Assert.That(context.GetProperty("attachments"), Is.EqualTo("""[{"name":"a.pdf","contentType":"application/pdf","length":3}]"""));
    }

    [Test]
    public async Task Headers_may_be_the_media_type_of_the_message(CancellationToken cancellationToken)
    {
        var body = Mail[(Mail.IndexOf("\n\n", StringComparison.Ordinal) + 2)..];

        var context = await RunAsync(
            """[{ "decode": "mime" }]""",
            Some.Message(body, contentType: "multipart/mixed; boundary=b1"),
            cancellationToken
        );

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("<order/>"));
    }

    [Test, Property("Case", "F026")]
    public async Task Parts_that_were_decoded_are_encoded_again(CancellationToken cancellationToken)
    {
        var context = await RunAsync(
            """[{ "decode": "mime" }, { "encode": "mime" }, { "decode": "mime" }]""",
            Some.Message(Mail),
            cancellationToken
        );

        Assert.That((context.Message.Body.ReadText(), context.Entries!.Single().Name), Is.EqualTo(("<order/>", "a.pdf")));
        Assert.That(context.Entries!.Single().Body.Bytes.ToArray(), Is.EqualTo(new byte[] { 0, 1, 2 }));
    }

    [
        TestCase("hello\nworld", null),
        TestCase("text", "multipart/mixed; boundary=b1"),
        TestCase("<order/>", "application/xml"),
        TestCase("", "multipart/mixed; boundary=b1")
    ]
    public void What_is_no_mime_is_refused(string body, string? type, CancellationToken cancellationToken)
    {
        var error = Assert.ThrowsAsync<EsbException>(() =>
            RunAsync("""[{ "decode": "mime" }]""", Some.Message(body, contentType: type), cancellationToken)
        )!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-CODEC-FORMAT", FaultKind.Malformed)));
    }

    [TestCase("\"maxEntries\": 1"), TestCase("\"maxSize\": \"9B\"")]
    public void More_than_is_allowed_is_refused(string limit, CancellationToken cancellationToken) =>
        Assert.That(
            Assert
                .ThrowsAsync<EsbException>(() =>
                    RunAsync($$"""[{ "decode": { "codec": "mime", {{limit}} } }]""", Some.Message(Mail), cancellationToken)
                )!
                .Code,
            Is.EqualTo("ESB-CODEC-LIMIT")
        );

    [Test]
    public async Task Each_file_of_an_archive_is_an_item(CancellationToken cancellationToken)
    {
        var published = new List<(string Name, string Body)>();
        var archive = Some.Message() with { Body = MessageBody.FromBytes(Zip(("a.txt", "one"), ("sub/b.txt", "two"), ("sub/", ""))) };

        var context = await RunAsync(
            """[{ "decode": { "codec": "zip", "entries": true } }, { "split": { "entries": true, "steps": [{ "set": { "headers": { "x-name": { "property": "split.name" } } } }, { "publish": "orders.file" }] } }]""",
            archive,
            cancellationToken,
            sent => published.Add((sent.Headers["x-name"]!, sent.Body.ReadText()))
        );

        Assert.That(published, Is.EqualTo(new[] { ("a.txt", "one"), ("sub/b.txt", "two") }));
        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("""[{"name":"a.txt","length":3},{"name":"sub/b.txt","length":3}]"""));
    }

    [Test, Property("Case", "F026")]
    public async Task Parts_go_into_one_map_by_their_names(CancellationToken cancellationToken)
    {
        var terms = Encoding.Latin1.GetBytes("<terms>Küste</terms>");
        var mail = $"""
            Content-Type: multipart/mixed; boundary="b1"

            --b1
            Content-Type: application/xml

            <order><id>7</id></order>
            --b1
            Content-Type: application/xml; charset=iso-8859-1
            Content-Disposition: attachment; filename="terms.xml"
            Content-Transfer-Encoding: base64

            {Convert.ToBase64String(terms)}
            --b1--
            """;

        var context = await RunAsync(
            """
            [
              { "decode": "mime" },
              { "set": { "properties": { "none": { "attachment": "none.xml" } } } },
              { "transform": { "map": "offer", "inputs": { "terms": { "attachment": "terms.xml" } } } }
            ]
            """,
            Some.Message(mail),
            cancellationToken,
            maps: [("offer.js", "export default (input, context) => ({ id: input.order.id, terms: context.inputs.terms.terms });")]
        );

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("""{"id":"7","terms":"Küste"}"""));
        Assert.That(context.GetProperty("none"), Is.Null);
    }

    [TestCase("a.pdf", "ESB-BODY-ENCODING"), TestCase("b.pdf", "ESB-EXPR-NOVALUE")]
    public void Part_that_is_no_text_or_is_not_there_fails_the_message(string name, string code, CancellationToken cancellationToken)
    {
        var error = Assert.ThrowsAsync<EsbException>(() =>
            RunAsync(
                $$"""[{ "decode": "mime" }, { "set": { "body": { "attachment": "{{name}}", "required": true } } }]""",
                Some.Message(Mail.Replace("AAEC", "//8=", StringComparison.Ordinal)),
                cancellationToken
            )
        )!;

        Assert.That((error.Code, error.Message.Contains(name)), Is.EqualTo((code, code == "ESB-EXPR-NOVALUE")));
    }

    [TestCase("../a.txt", "ESB-CODEC-NAME"), TestCase("/a.txt", "ESB-CODEC-NAME"), TestCase("a.txt", "ESB-CODEC-LIMIT")]
    public void Archive_that_leads_elsewhere_or_is_too_large_is_refused(string name, string code, CancellationToken cancellationToken)
    {
        var archive = Some.Message() with { Body = MessageBody.FromBytes(Zip((name, "12345"), ("b", "67890"))) };

        var error = Assert.ThrowsAsync<EsbException>(() =>
            RunAsync("""[{ "decode": { "codec": "zip", "entries": true, "maxSize": "9B" } }]""", archive, cancellationToken)
        )!;

        Assert.That(error.Code, Is.EqualTo(code));
    }

    [Test]
    public void Split_of_entries_without_a_decode_is_refused(CancellationToken cancellationToken) =>
        Assert.That(
            Assert
                .ThrowsAsync<EsbException>(() =>
                    RunAsync(
                        """[{ "split": { "entries": true, "steps": [{ "publish": "orders.a" }] } }]""",
                        Some.Message(),
                        cancellationToken
                    )
                )!
                .Code,
            Is.EqualTo("ESB-SPLIT-ENTRIES")
        );

    private static byte[] Zip(params (string Name, string Text)[] files)
    {
        using var made = new MemoryStream();
        using (var archive = new ZipArchive(made, ZipArchiveMode.Create, leaveOpen: true))
        {
            foreach (var (name, text) in files)
            {
                using var entry = archive.CreateEntry(name).Open();
                entry.Write(Encoding.UTF8.GetBytes(text));
            }
        }

        return made.ToArray();
    }

    private static async Task<MessageContext> RunAsync(
        string steps,
        EsbMessage message,
        CancellationToken cancellationToken,
        Action<EsbMessage>? published = null,
        params IReadOnlyList<(string Name, string Text)> maps
    )
    {
        using var processes = new CompiledProcesses(
            $$"""{ "main": {{steps}} }""",
            register: services => services.AddSingleton(Substitute.For<IDeadLetterChannel>()),
            maps: maps
        );
        processes
            .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
            .Do(call => published?.Invoke(call.Arg<MessageContext>().Message));
        return await processes.RunAsync(message, cancellationToken);
    }
}
