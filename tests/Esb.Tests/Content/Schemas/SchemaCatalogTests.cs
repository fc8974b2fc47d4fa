using System.Net;
using System.Net.Sockets;
using Esb.Content.Masking;
using Esb.Content.Schemas;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Tests.Content.Masking;

namespace Esb.Tests.Content.Schemas;

public sealed class SchemaCatalogTests
{
    private const string OneSchema = """{ "schemas": { "order": "schemas/order.xsd" } }""";

    private const string OrderXsd = """
        <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:orders" xmlns:o="urn:orders" elementFormDefault="qualified">
          <xs:element name="order">
            <xs:complexType>
              <xs:sequence>
                <xs:element name="count" type="xs:int" maxOccurs="unbounded"/>
                <xs:any namespace="##other" processContents="lax" minOccurs="0"/>
              </xs:sequence>
            </xs:complexType>
          </xs:element>
        </xs:schema>
        """;

    [Test]
    public void A_document_of_the_schema_passes()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));

        Assert.That(content.Errors, Is.Empty);
        Assert.That(() => Find(content).Validate(Some.Message("<order xmlns='urn:orders'><count>1</count></order>")), Throws.Nothing);
    }

    [Test]
    public void What_a_lax_wildcard_lets_through_is_no_error()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));

        var message = Some.Message("<order xmlns='urn:orders'><count>1</count><any:thing xmlns:any='urn:any'/></order>");

        Assert.That(() => Find(content).Validate(message), Throws.Nothing);
    }

    [Test, Property("Case", "XML-07")]
    public void Hints_where_a_schema_might_be_are_not_followed()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var hint =
            $"xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:schemaLocation='urn:any http://{listener.LocalEndpoint}/any.xsd'";

        Find(content).Validate(Some.Message($"<order xmlns='urn:orders' {hint}><count>1</count><a:thing xmlns:a='urn:any'/></order>"));

        Assert.That(listener.Pending(), Is.False);
    }

    [TestCase("<order><count>1</count></order>", "order (no namespace)")]
    [TestCase("<bill xmlns='urn:orders'/>", "{urn:orders}bill")]
    [TestCase("<!-- first --><order xmlns='urn:order'/>", "{urn:order}order")]
    [Property("Case", "XML-15")]
    public void Another_root_element_is_an_error(string document, string found)
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));

        var error = Refused(content, document);

        Assert.That(error.Code, Is.EqualTo("ESB-XML-ROOT"));
        Assert.That(error.Kind, Is.EqualTo(FaultKind.Invalid));
        Assert.That(error.Message, Does.Contain("expected {urn:orders}order").And.Contain($"found {found} at line 1"));
    }

    [Test, Property("Case", "XML-16")]
    public void Many_violations_are_counted_and_the_first_twenty_shown()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));
        var counts = string.Concat(Enumerable.Range(1, 25).Select(i => $"\n<count>x{i}</count>"));

        var error = Refused(content, $"<order xmlns='urn:orders'>{counts}</order>");

        Assert.That(error.Code, Is.EqualTo("ESB-XML-SCHEMA"));
        Assert.That(error.Kind, Is.EqualTo(FaultKind.Invalid));
        Assert.That(error.Message, Does.Contain("25 places; the first 20"));
        Assert.That(error.Message, Does.Contain("line 2, column 12").And.Contain("line 21,").And.Not.Contain("line 22,"));
    }

    [Test, Property("Case", "AUD-02")]
    public void A_value_that_is_masked_is_not_told_however_long_it_is()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));
        var message = Some.Message($"<order xmlns='urn:orders'><count>{new string('x', 1_000)}</count></order>");
        MaskedFlow.Follow(SomeMasks.Of(new MaskConfig { Xpath = "//*[local-name() = 'count']", Action = MaskAction.Drop }), message);

        var error = Assert.Throws<EsbException>(() => Find(content).Validate(message))!;

        Assert.That(error.Message, Does.Contain("line 1").And.Not.Contain("xxxx"));
    }

    [Test, CancelAfter(30_000)]
    public void Violations_without_end_are_not_all_counted()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));

        var error = Refused(content, $"<order xmlns='urn:orders'>{string.Concat(Enumerable.Repeat("<count/>", 200_000))}</order>");

        Assert.That(error.Message, Does.Contain("at least 10000 places"));
    }

    [Test]
    public void A_body_that_is_no_XML_is_malformed_and_not_invalid()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));

        Assert.That(Refused(content, "<order xmlns='urn:orders'><count>1</order>").Code, Is.EqualTo("ESB-XML-SYNTAX"));
        Assert.That(Refused(content, "{}").Kind, Is.EqualTo(FaultKind.Malformed));
        Assert.That(Refused(content, "").Code, Is.EqualTo("ESB-XML-EMPTY"));
    }

    [Test]
    public void A_schema_may_include_and_import_what_stands_beside_or_below_it()
    {
        using var content = SomeContent.Configure(
            OneSchema,
            (
                "schemas/order.xsd",
                """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="parts/types.xsd"/><xs:element name="order" type="amount"/></xs:schema>"""
            ),
            (
                "schemas/parts/types.xsd",
                """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:simpleType name="amount"><xs:restriction base="xs:int"/></xs:simpleType></xs:schema>"""
            )
        );

        Assert.That(content.Errors, Is.Empty);
        Assert.That(Refused(content, "<order>x</order>").Code, Is.EqualTo("ESB-XML-SCHEMA"));
    }

    [TestCase("../types.xsd")]
    [TestCase("/etc/types.xsd")]
    [TestCase("file:///etc/types.xsd")]
    [TestCase("http://127.0.0.1:9/types.xsd")]
    [TestCase("parts/../../types.xsd")]
    [TestCase("file:types.xsd")]
    [TestCase("http:types.xsd")]
    public void A_schema_may_include_nothing_else(string location)
    {
        using var content = SomeContent.Configure(
            OneSchema,
            (
                "schemas/order.xsd",
                $"""<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="{location}"/><xs:element name="order"/></xs:schema>"""
            ),
            ("types.xsd", """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>""")
        );

        Assert.That(content.Errors.Select(error => error.Code), Is.Not.Empty.And.All.EqualTo("ESB-XSD-COMPILE"));
        Assert.That(content.Errors.Select(error => error.Expected), Has.Some.Contains($"refers to {location}"));
    }

    [TestCase(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\n <xs:element name='order' type='nothing'/></xs:schema>",
        "line 2, column 3"
    )]
    [TestCase("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\n <xs:element name='order'></xs:schema>", "line 2, column 29")]
    [TestCase("<!DOCTYPE a><xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/>", "DTD")]
    [TestCase("<order/>", "line 1")]
    [TestCase("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:include schemaLocation='missing.xsd'/></xs:schema>", "line 1")]
    public void A_broken_schema_is_a_configuration_error_with_its_place(string xsd, string place)
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", xsd));

        var error = content.Errors[0];

        Assert.That(error.Code, Is.EqualTo("ESB-XSD-COMPILE"));
        Assert.That(error.Path, Is.EqualTo("schemas.order"));
        Assert.That(error.Expected, Does.StartWith($"schemas{Path.DirectorySeparatorChar}order.xsd").And.Contain(place));
        Assert.That(content.Get<ISchemaCatalog>().Find("order"), Is.Null);
    }

    [Test]
    public void Missing_files_are_configuration_errors_all_at_once()
    {
        using var content = SomeContent.Configure("""{ "schemas": { "a": "a.xsd", "b": { "file": "b.json" } } }""");

        Assert.That(
            content.Errors.Select(error => (error.Code, error.Path)),
            Is.EquivalentTo(new[] { ("ESB-CFG-NOTFOUND", "schemas.a"), ("ESB-CFG-NOTFOUND", "schemas.b") })
        );
    }

    [Test]
    public void A_name_that_is_not_configured_is_not_found()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));

        Assert.That(content.Get<ISchemaCatalog>().Find("Order"), Is.Null);
    }

    [Test, CancelAfter(30_000)]
    public void One_compiled_schema_serves_many_threads()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.xsd", OrderXsd));
        var schema = Find(content);

        Parallel.For(
            0,
            4_000,
            i =>
            {
                var document = $"<order xmlns='urn:orders'><count>{(i % 2 == 0 ? "1" : "x")}</count></order>";
                if (i % 2 == 0)
                    Assert.That(() => schema.Validate(Some.Message(document)), Throws.Nothing);
                else
                    Assert.That(
                        () => schema.Validate(Some.Message(document)),
                        Throws.InstanceOf<EsbException>().With.Message.Contains("1 place")
                    );
            }
        );
    }

    private static IMessageSchema Find(ConfiguredContent content) => content.Get<ISchemaCatalog>().Find("order")!;

    private static EsbException Refused(ConfiguredContent content, string document) =>
        Assert.Throws<EsbException>(() => Find(content).Validate(Some.Message(document)))!;
}
