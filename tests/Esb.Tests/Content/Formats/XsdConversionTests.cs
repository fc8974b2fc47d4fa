using Esb.Content.Formats.Conversion;
using Esb.Content.Schemas;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Formats;

/// <summary>JSON made of XML with the types of an XML Schema.</summary>
public sealed class XsdConversionTests
{
    [TestCase("xs:integer", "12", "12"), TestCase("xs:positiveInteger", " 7 ", "7"), TestCase("xs:short", "-3", "-3")]
    [TestCase("xs:decimal", "+012.50", "12.50"), TestCase("xs:double", "1E3", "1e3"), TestCase("xs:double", "INF", "\"INF\"")]
    [TestCase("xs:boolean", "1", "true"), TestCase("xs:boolean", "false", "false"), TestCase("xs:string", "12", "\"12\"")]
    [TestCase("xs:date", "2026-11-28", "\"2026-11-28\""), TestCase("xs:NMTOKENS", "1 2", "\"1 2\""), TestCase("xs:token", "1", "\"1\"")]
    [TestCase("xs:anyType", "5", "\"5\""), TestCase("xs:integer", "", "\"\"")]
    public void Text_has_the_type_of_its_element(string type, string text, string json) =>
        Assert.That(Convert($"<r>{text}</r>", $"""<xs:element name="r" type="{type}"/>"""), Is.EqualTo($$"""{"r":{{json}}}"""));

    [Test]
    public void Elements_attributes_and_single_elements_of_lists_have_their_types()
    {
        const string Order = """
            <xs:element name="order">
              <xs:complexType>
                <xs:sequence>
                  <xs:element name="paid" type="xs:boolean" nillable="true"/>
                  <xs:element name="line" maxOccurs="unbounded">
                    <xs:complexType>
                      <xs:sequence>
                        <xs:element name="qty" type="quantity"/>
                        <xs:element name="price">
                          <xs:complexType>
                            <xs:simpleContent>
                              <xs:extension base="xs:decimal"><xs:attribute name="currency" type="xs:string"/></xs:extension>
                            </xs:simpleContent>
                          </xs:complexType>
                        </xs:element>
                      </xs:sequence>
                    </xs:complexType>
                  </xs:element>
                </xs:sequence>
                <xs:attribute name="id" type="xs:int"/>
              </xs:complexType>
            </xs:element>
            <xs:simpleType name="quantity"><xs:restriction base="xs:integer"><xs:minInclusive value="1"/></xs:restriction></xs:simpleType>
            """;

        Assert.That(
            Convert("<order id='7'><paid/><line><qty>2</qty><price>9.90</price></line><more>5</more></order>", Order),
            Is.EqualTo("""{"order":{"@id":7,"paid":null,"line":[{"qty":2,"price":{"#text":9.90}}],"more":"5"}}""")
        );
    }

    // An element is an array where it may stand more than once in its parent.
    [TestCase("""<xs:sequence maxOccurs="2"><xs:element name="a" type="xs:int"/></xs:sequence>""", "[5]")]
    [TestCase("""<xs:choice maxOccurs="unbounded"><xs:element name="a" type="xs:int"/></xs:choice>""", "[5]")]
    [TestCase(
        """
            <xs:sequence><xs:element name="a" type="xs:int"/><xs:element name="b" minOccurs="0"/>
              <xs:element name="a" type="xs:int" minOccurs="0"/>
            </xs:sequence>
            """,
        "[5]"
    )]
    [TestCase(
        """
            <xs:choice>
              <xs:sequence><xs:element name="a" type="xs:int"/><xs:element name="b"/></xs:sequence><xs:element name="c"/>
            </xs:choice>
            """,
        "5"
    )]
    [TestCase("""<xs:all><xs:element name="a" type="xs:int"/></xs:all>""", "5")]
    public void Element_that_may_repeat_is_an_array(string content, string json) =>
        Assert.That(
            Convert("<r><a>5</a></r>", $"""<xs:element name="r"><xs:complexType>{content}</xs:complexType></xs:element>"""),
            Is.EqualTo($$$"""{"r":{"a":{{{json}}}}}""")
        );

    [Test]
    public void Derived_types_substitutes_and_types_that_contain_themselves_are_found()
    {
        const string Tree = """
            <xs:complexType name="node">
              <xs:sequence>
                <xs:element name="v" type="xs:int"/>
                <xs:element name="node" type="wide" minOccurs="0"/>
                <xs:element ref="note" minOccurs="0"/>
              </xs:sequence>
            </xs:complexType>
            <xs:complexType name="wide">
              <xs:complexContent>
                <xs:extension base="node"><xs:sequence><xs:element name="w" type="xs:boolean"/></xs:sequence></xs:extension>
              </xs:complexContent>
            </xs:complexType>
            <xs:element name="node" type="node"/>
            <xs:element name="note" type="xs:string"/>
            <xs:element name="code" type="xs:string" substitutionGroup="note"/>
            """;

        Assert.That(
            Convert("<node><v>1</v><node><v>2</v><node><v>3</v><w>0</w></node><code>9</code><w>1</w></node></node>", Tree),
            Is.EqualTo("""{"node":{"v":1,"node":{"v":2,"node":{"v":3,"w":false},"code":"9","w":true}}}""")
        );
    }

    [Test]
    public void Names_have_the_prefixes_of_the_configuration()
    {
        var json = Convert(
            "<x:r xmlns:x='urn:orders'><x:n>1</x:n></x:r>",
            """
            <xs:element name="r">
              <xs:complexType><xs:sequence><xs:element name="n" type="xs:int"/></xs:sequence></xs:complexType>
            </xs:element>
            """,
            "targetNamespace='urn:orders' elementFormDefault='qualified'"
        );

        Assert.That(json, Is.EqualTo("""{"o:r":{"o:n":1}}"""));
    }

    private static string Convert(string xml, string declarations, string attributes = "")
    {
        var schema = $"<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' {attributes}>{declarations}</xs:schema>";
        using var content = SomeContent.Configure(
            """{ "namespaces": { "o": "urn:orders" }, "schemas": { "s": "s.xsd" } }""",
            ("s.xsd", schema)
        );
        Assert.That(content.Errors, Is.Empty);
        var options = new ConversionOptions { Types = content.Get<ISchemaCatalog>().Find("s")!.Types };
        return content.Get<ContentConverter>().Convert(MessageBody.FromText(xml), "xml", "json", options).Body.ReadText();
    }
}
