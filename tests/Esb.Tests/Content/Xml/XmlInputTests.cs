using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Esb.Configuration;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Xml;

public sealed class XmlInputTests
{
    private static readonly XmlInput Roomy = new(XmlLimits.From(new LimitsConfig { MaxBodySize = ByteSize.MiB(64) }));

    [Test, Property("Case", "XML-01")]
    public void A_document_that_is_not_well_formed_is_refused_with_its_place()
    {
        var error = Refused("<order>\n  <line></lines>\n</order>");

        Assert.That(error.Code, Is.EqualTo("ESB-XML-SYNTAX"));
        Assert.That(error.Kind, Is.EqualTo(FaultKind.Malformed));
        Assert.That(error.Message, Does.Contain("line 2, column 11"));
    }

    [Test, Property("Case", "XML-02")]
    public void A_document_type_declaration_is_refused()
    {
        var error = Refused("<!DOCTYPE order SYSTEM \"order.dtd\"><order/>");

        Assert.That(error.Code, Is.EqualTo("ESB-XML-DTD"));
        Assert.That(error.Message, Does.Contain("document type declarations are not allowed"));
    }

    [Test, Property("Case", "XML-03")]
    public void An_external_entity_of_a_file_is_refused_and_the_file_never_opened()
    {
        var folder = Directory.CreateTempSubdirectory("esb-");
        var secret = Path.Combine(folder.FullName, "secret.txt");
        File.WriteAllText(secret, "secret");
        try
        {
            // a second opening would fail, and say so
            using var locked = new FileStream(secret, FileMode.Open, FileAccess.ReadWrite, FileShare.None);

            var error = Refused($"<!DOCTYPE a [<!ENTITY x SYSTEM \"{new Uri(secret).AbsoluteUri}\">]><a>&x;</a>");

            Assert.That(error.Code, Is.EqualTo("ESB-XML-DTD"));
            Assert.That(error.ToString(), Does.Not.Contain("being used by another process"));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Test, Property("Case", "XML-04")]
    public void An_external_parameter_entity_is_refused_and_no_connection_made()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();

        var error = Refused($"<!DOCTYPE a [<!ENTITY % x SYSTEM \"http://{listener.LocalEndpoint}/x.dtd\">%x;]><a/>");

        Assert.That(error.Code, Is.EqualTo("ESB-XML-DTD"));
        Assert.That(listener.Pending(), Is.False);
    }

    [Test, Property("Case", "XML-05")]
    public void Entity_bombs_are_refused_at_once()
    {
        var nested = new StringBuilder("<!DOCTYPE a [<!ENTITY e0 \"ha\">");
        for (var i = 1; i < 30; i++)
            nested.Append($"<!ENTITY e{i} \"&e{i - 1};&e{i - 1};\">");
        nested.Append("]><a>&e29;</a>");
        var quadratic = $"<!DOCTYPE a [<!ENTITY x \"{new string('x', 50_000)}\">]><a>{string.Concat(Enumerable.Repeat("&x;", 50_000))}</a>";
        Refused("<!DOCTYPE a><a/>"); // warm
        EsbException[] errors = [];
        var fastest = TimeSpan.MaxValue;
        for (var round = 0; round < 5; round++) // one round alone tells of the machine, too
        {
            var clock = Stopwatch.StartNew();
            errors = [Refused(nested.ToString()), Refused(quadratic)];
            fastest = new[] { fastest, clock.Elapsed }.Min();
        }

        Assert.That(fastest, Is.LessThan(TimeSpan.FromMilliseconds(50)));
        Assert.That(errors.Select(error => error.Code), Is.All.EqualTo("ESB-XML-DTD"));
    }

    [Test, Property("Case", "XML-06")]
    public void An_inclusion_is_plain_data()
    {
        var body = SomeContent.Body(
            "<a xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='file:///etc/hostname' parse='text'/></a>"
        );

        var document = SomeContent.Xml.Navigate(body);

        Assert.That(document.Evaluate("count(//*[local-name() = 'include'])"), Is.EqualTo(1));
        Assert.That(document.Value, Is.Empty);
    }

    [Test, Property("Case", "XML-21")]
    public void Encrypted_and_signed_parts_are_data_as_any_other()
    {
        var body = SomeContent.Body(
            """
            <order><ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo><ds:Reference URI="file:///etc/hostname"/></ds:SignedInfo>
            <ds:SignatureValue>no signature</ds:SignatureValue></ds:Signature>
            <xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"><xenc:CipherReference URI="http://127.0.0.1:1/"/></xenc:EncryptedData><type>gold</type></order>
            """
        );

        Assert.That(SomeContent.Xml.Navigate(body).Evaluate("string(/order/type)"), Is.EqualTo("gold"));
        Assert.That(
            typeof(XmlInput).Assembly.GetReferencedAssemblies().Select(assembly => assembly.Name),
            Has.None.EqualTo("System.Security.Cryptography.Xml")
        );
    }

    [Test, Property("Case", "XML-08")]
    public void Elements_nested_too_deep_are_refused()
    {
        var error = Refused(Nested(10_000));

        Assert.That(error.Code, Is.EqualTo("ESB-XML-DEPTH"));
        Assert.That(error.Message, Does.Contain("128"));
    }

    [TestCase(128, true)]
    [TestCase(129, false)]
    public void The_limit_of_depth_counts_the_root(int depth, bool isAccepted)
    {
        Action parse = () => SomeContent.Xml.Navigate(SomeContent.Body(Nested(depth)));

        Assert.That(parse, isAccepted ? Throws.Nothing : Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-XML-DEPTH"));
    }

    [Test, Property("Case", "XML-09"), CancelAfter(30_000)]
    public void Too_many_attributes_or_one_too_long_are_refused()
    {
        var many = new StringBuilder("<a ");
        for (var i = 0; i < 1_000_000; i++)
            many.Append($"a{i}='' ");
        many.Append("/>");

        var errors = new[] { Refused(many.ToString(), Roomy), Refused($"<a b='{new string('x', 5 << 20)}'/>", Roomy) };

        Assert.That(errors.Select(error => error.Code), Is.All.EqualTo("ESB-XML-LIMIT"));
        Assert.That(errors.Select(error => error.Kind), Is.All.EqualTo(FaultKind.TooLarge));
    }

    [TestCase(256, 0, true)]
    [TestCase(255, 1, true)]
    [TestCase(256, 1, false)]
    [TestCase(257, 0, false)]
    public void Namespace_declarations_in_scope_are_limited(int atRoot, int below, bool isAccepted)
    {
        string Declared(int count, char prefix) => string.Concat(Enumerable.Range(0, count).Select(i => $" xmlns:{prefix}{i}='u{i}'"));
        var document = $"<r{Declared(atRoot, 'p')}>{string.Concat(Enumerable.Repeat($"<a{Declared(below, 'q')}/>", 300))}</r>";

        foreach (var encoding in new[] { Encoding.UTF8, Encoding.Unicode })
        {
            byte[] bytes = [.. encoding.GetPreamble(), .. encoding.GetBytes(document)];
            Action parse = () => SomeContent.Xml.Navigate(MessageBody.FromBytes(bytes));

            Assert.That(
                parse,
                isAccepted ? Throws.Nothing : Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-XML-LIMIT")
            );
        }
    }

    [Test]
    public void Equals_signs_that_are_no_attributes_do_not_count()
    {
        var many = new string('=', 20_000);

        Assert.That(
            () =>
                SomeContent.Xml.Navigate(
                    SomeContent.Body($"<a b='{many}'><!--{many}--><![CDATA[{many}]]><?x {many}?>{many}<c d=\"{many}\"/></a>")
                ),
            Throws.Nothing
        );
    }

    [TestCase("<a><!-- = < ' --><b/><![CDATA[ = ' ]]><c x='=' {0}/></a>", 99, false)]
    [TestCase("<a><!-- = < ' --><b/><![CDATA[ = ' ]]><c x='=' {0}/></a>", 100, true)]
    [TestCase("<?x ='?><a {0} y='>'/>", 100, true)]
    public void Attributes_are_counted_wherever_the_parser_pauses(string document, int attributes, bool isRefused)
    {
        var bytes = Encoding.UTF8.GetBytes(
            string.Format(
                CultureInfo.InvariantCulture,
                document,
                string.Join(' ', Enumerable.Range(0, attributes).Select(i => $"a{i}=\"=>'\""))
            )
        );

        for (var piece = 1; piece < 40; piece++)
        {
            var guard = new AttributeGuard(bytes, limit: 100);
            var exceeds = false;
            for (var end = 0; end < bytes.Length && !exceeds; end += piece)
                exceeds = guard.Exceeds(Math.Min(end, bytes.Length));

            Assert.That(exceeds || guard.Exceeds(bytes.Length), Is.EqualTo(isRefused), $"pieces of {piece}");
        }
    }

    [Test, Property("Case", "XML-10")]
    public void Too_long_a_text_is_refused()
    {
        var error = Refused($"<a>{new string('x', 2_000)}</a>", new XmlInput(new XmlLimits { Characters = 1_000 }));

        Assert.That(error.Code, Is.EqualTo("ESB-XML-LIMIT"));
        Assert.That(error.Message, Does.Contain("1000 characters"));
    }

    [Test, Property("Case", "XML-11")]
    public void Bytes_of_another_encoding_than_declared_are_refused_with_their_offset()
    {
        var error = Refused(Encoding.Latin1.GetBytes("<?xml version='1.0' encoding='utf-8'?><a>é</a>"));

        Assert.That(error.Code, Is.EqualTo("ESB-XML-ENCODING"));
        Assert.That(error.Message, Does.Contain("byte offset 41"));
    }

    [Test, Property("Case", "XML-12")]
    public void Encodings_that_are_not_supported_are_refused_with_those_that_are([Values("utf-7", "IBM037")] string encoding)
    {
        var error = Refused($"<?xml version='1.0' encoding='{encoding}'?><a/>");

        Assert.That(error.Code, Is.EqualTo("ESB-XML-ENCODING"));
        Assert.That(error.Message, Does.Contain(encoding).And.Contain("UTF-8, UTF-16"));
    }

    [TestCase("<a>\0</a>", "U+0000")]
    [TestCase("<a>&#xD800;</a>", "U+D800")]
    [TestCase("<a>\u0001</a>", "U+0001")]
    [Property("Case", "XML-13")]
    public void Characters_that_XML_does_not_allow_are_refused(string document, string character)
    {
        var error = Refused(document);

        Assert.That(error.Code, Is.EqualTo("ESB-XML-CHAR"));
        Assert.That(error.Message, Does.Contain(character).And.Contain("line 1, column"));
    }

    [TestCase("")]
    [TestCase(" \r\n\t ")]
    [Property("Case", "XML-14")]
    public void A_body_without_a_document_is_refused_as_empty(string body)
    {
        Assert.That(Refused(body).Code, Is.EqualTo("ESB-XML-EMPTY"));
    }

    [TestCase("<p:order/>")]
    [TestCase("<order p:id='1'/>")]
    [Property("Case", "XML-17")]
    public void An_undeclared_prefix_is_named(string document)
    {
        var error = Refused(document);

        Assert.That(error.Code, Is.EqualTo("ESB-XML-SYNTAX"));
        Assert.That(error.Message, Does.Contain("'p'"));
    }

    [TestCase("<order><line><sku>TEA", "inside element sku")]
    [TestCase("<order><line/><sku at", "inside element order")]
    [TestCase("<order><line sku='TEA", "inside element order")]
    [TestCase("<order><!-- about", "inside element order")]
    [TestCase("<order", "before its root element was complete")]
    [TestCase("<a>", "before its root element was complete")]
    [TestCase("<a", "before its root element was complete")]
    [TestCase("<", "before its root element was complete")]
    [Property("Case", "XML-19")]
    public void A_truncated_document_is_refused_with_where_it_ended(string document, string place)
    {
        var error = Refused(document);

        Assert.That(error.Code, Is.EqualTo("ESB-XML-SYNTAX"));
        Assert.That(error.Message, Does.EndWith($"it ended {place}."));
    }

    [Test, Property("Case", "XML-19")]
    public void A_text_that_ends_too_early_is_found_by_whoever_asks_for_it()
    {
        var error = Refused($"<order><note>{new string('x', 100_000)}");

        Assert.That(error.Message, Does.EndWith("it ended inside element note."));
    }

    [TestCase("<a/><b/>")]
    [TestCase("<a/>rubbish")]
    [TestCase("{\"a\": 1}")]
    [Property("Case", "XML-20")]
    public void Anything_beside_one_root_element_is_refused(string document)
    {
        Assert.That(Refused(document).Code, Is.EqualTo("ESB-XML-SYNTAX"));
    }

    [Test]
    public void A_document_is_parsed_once_for_all_copies_of_its_message()
    {
        var message = Some.Message("<order id='1'/>");
        var copy = message with { Headers = message.Headers.With("x-a", "b") };

        var first = SomeContent.Xml.Navigate(message.Body);
        var second = SomeContent.Xml.Navigate(copy.Body);

        Assert.That(first.IsSamePosition(second), Is.True, "the same nodes");
        Assert.That(first, Is.Not.SameAs(second), "a navigator moves, so each has its own");
    }

    [Test]
    public void The_bytes_decide_the_encoding([Values("utf-8", "utf-16", "utf-16BE", "iso-8859-1")] string name)
    {
        var encoding = Encoding.GetEncoding(name);
        byte[] bytes = [.. encoding.GetPreamble(), .. encoding.GetBytes($"<?xml version='1.0' encoding='{name}'?><a>é</a>")];

        var document = SomeContent.Xml.Navigate(MessageBody.FromBytes(bytes));

        Assert.That(document.Value, Is.EqualTo("é"));
    }

    [Test]
    public void White_space_stays()
    {
        Assert.That(SomeContent.Xml.Navigate(SomeContent.Body("<a> <b/> </a>")).Value, Is.EqualTo("  "));
    }

    private static string Nested(int depth) =>
        string.Concat(Enumerable.Repeat("<a>", depth)) + string.Concat(Enumerable.Repeat("</a>", depth));

    private static EsbException Refused(string document, XmlInput? xml = null) => Refused(Encoding.UTF8.GetBytes(document), xml);

    private static EsbException Refused(byte[] document, XmlInput? xml = null) =>
        Assert.Throws<EsbException>(() => (xml ?? SomeContent.Xml).Navigate(MessageBody.FromBytes(document)))!;
}
