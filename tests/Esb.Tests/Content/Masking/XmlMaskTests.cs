using System.Text;
using Esb.Content.Masking;
using Esb.Core.Audit;

namespace Esb.Tests.Content.Masking;

public sealed class XmlMaskTests
{
    private const string Card = "4111111111111111";

    [TestCase(MaskAction.Last4, "<order><card>****1111</card><total>5</total></order>")]
    [TestCase(MaskAction.Drop, "<order><total>5</total></order>")]
    public void Element_is_masked_and_its_neighbours_stay(MaskAction action, string expected)
    {
        var masked = SomeMasks.Xpath("//card", action).Apply($"<order><card>{Card}</card><total>5</total></order>");

        Assert.That((masked.Text(), masked.State), Is.EqualTo((expected, AuditBodyState.Masked)));
    }

    [Test]
    public void Hash_is_the_same_for_the_same_value_in_any_format_and_another_for_another()
    {
        var hashed = SomeMasks
            .Xpath("//card", MaskAction.Hash)
            .Apply($"<o><card>{Card}</card><card> {Card}\n</card><card>5</card></o>")
            .Text();
        var json = SomeMasks.Jsonpath("$.card", MaskAction.Hash).Apply($$"""{"card":{{Card}}}""").Text();

        var cards = System.Xml.Linq.XDocument.Parse(hashed).Root!.Elements().Select(card => card.Value).ToList();
        Assert.That(cards[0], Does.Match("^hmac-sha256:[0-9a-f]{64}$").And.EqualTo(cards[1]).And.Not.EqualTo(cards[2]));
        Assert.That(json, Is.EqualTo($$"""{"card":"{{cards[0]}}"}"""));
    }

    [TestCase("<o><card><![CDATA[4111]]>1111<![CDATA[11111111]]></card></o>", "//card", TestName = "CDATA and text in pieces")]
    [TestCase("<o><card><![CDATA[4111]]>1111<![CDATA[11111111]]></card></o>", "//card/text()", TestName = "text in pieces, by its text")]
    [TestCase("<o><card>4111<!-- 4111111111111111 -->111111111111</card></o>", "//card", TestName = "a comment inside")]
    [TestCase("<o><card>&#52;111111111111111</card></o>", "//card", TestName = "a character reference")]
    [TestCase("<o><card number='4111111111111111'/></o>", "//card", TestName = "an attribute of the element")]
    [TestCase("<o><card number='4111111111111111'/></o>", "//card/@number", TestName = "an attribute by itself")]
    [TestCase("<o><card><a><b n='4111111111111111'>4111111111111111</b></a></card></o>", "//card", TestName = "deep inside")]
    [TestCase(
        "<p:o xmlns:p='urn:x'><q:card xmlns:q='urn:payment'>4111111111111111</q:card></p:o>",
        "//p:card",
        TestName = "another prefix of the namespace"
    )]
    [TestCase("<o xmlns='urn:payment'><card>4111111111111111</card></o>", "//p:card", TestName = "the default namespace")]
    [TestCase("<card>4111111111111111</card>", "/card", TestName = "the root")]
    [TestCase("<card>4111111111111111</card>", "/", TestName = "the document")]
    [TestCase("<o><!--4111111111111111--></o>", "//comment()", TestName = "a comment")]
    [TestCase("<o><?pay 4111111111111111?></o>", "//processing-instruction()", TestName = "a processing instruction")]
    public void Secret_does_not_stay(string body, string xpath)
    {
        foreach (var action in Enum.GetValues<MaskAction>())
        {
            var masked = SomeMasks.Xpath(xpath, action).Apply(body);

            Assert.That(masked.State, Is.EqualTo(AuditBodyState.Masked));
            Assert.That(masked.Text(), Does.Not.Contain(Card).And.Not.Contain("4111"), action.ToString());
            Assert.That(() => System.Xml.Linq.XDocument.Parse(masked.Text()), Throws.Nothing, "what is recorded is still XML");
        }
    }

    [Test]
    public void What_is_not_masked_keeps_namespaces_comments_and_line_ends()
    {
        var masked = SomeMasks
            .Xpath("//p:card")
            .Apply(
                "<?xml version='1.0'?><p:o xmlns:p='urn:payment' p:a='1&#10;2'><!--c--><?pi "
                    + "d?><p:card>12345678</p:card>\n<e/>&#13;&lt;</p:o>"
            )
            .Text();

        Assert.That(
            masked,
            Is.EqualTo("<p:o xmlns:p=\"urn:payment\" p:a=\"1&#xA;2\"><!--c--><?pi d?><p:card>****5678</p:card>\n<e />&#xD;&lt;</p:o>")
        );
    }

    [TestCase("utf-16"), TestCase("utf-8")]
    public void Any_encoding_with_its_byte_order_mark_is_read(string name)
    {
        var encoding = Encoding.GetEncoding(name);
        byte[] body = [.. encoding.Preamble, .. encoding.GetBytes($"<?xml version='1.0' encoding='{name}'?><o><card>{Card}</card></o>")];

        var masked = SomeMasks.Xpath("//card").Apply(body);

        Assert.That(masked.Text(), Is.EqualTo("<o><card>****1111</card></o>"));
    }

    [Test]
    public void Document_without_the_secret_stays_byte_for_byte()
    {
        var message = Some.Message("<?xml version='1.0'?>\r\n<o ><card2/></o >");

        var masked = SomeMasks.Xpath("//card").Apply(message);

        Assert.That(masked.State, Is.EqualTo(AuditBodyState.Whole));
        Assert.That(masked.Message.Body, Is.SameAs(message.Body));
    }

    [Test]
    public void Several_values_in_one_show_no_characters()
    {
        var masked = SomeMasks.Xpath("//card").Apply("<o><card><number>4111111111111111</number><code>9876</code></card></o>").Text();

        Assert.That(masked, Is.EqualTo("<o><card>****</card></o>"));
    }

    [Test]
    public void Stricter_rule_decides_where_two_meet_and_the_outer_one_over_inner_ones()
    {
        var mask = SomeMasks.Of(
            new MaskConfig { Xpath = "//card", Action = MaskAction.Drop },
            new MaskConfig { Xpath = "/o/card", Action = MaskAction.Last4 },
            new MaskConfig { Xpath = "//name", Action = MaskAction.Last4 },
            new MaskConfig { Xpath = "//name/first", Action = MaskAction.Hash }
        );

        Assert.That(
            mask.Apply($"<o><card>{Card}</card><name><first>Josephine</first></name></o>").Text(),
            Is.EqualTo("<o><name>****</name></o>")
        );
    }

    [TestCase("<o><card>4111111111111111</o>")]
    [TestCase("<!DOCTYPE o [<!ENTITY c '4111111111111111'>]><o><card>&c;</card></o>")]
    [TestCase("<o/><card>4111111111111111</card>")]
    [TestCase("<")]
    public void What_is_no_sound_XML_is_withheld(string body)
    {
        var masked = SomeMasks.Xpath("//card").Apply(body);

        Assert.That((masked.State, masked.Message.Body.Length), Is.EqualTo((AuditBodyState.Withheld, 0L)));
    }

    [Test]
    public void Namespace_cannot_be_masked_and_withholds_the_body() =>
        Assert.That(SomeMasks.Xpath("//namespace::*").Apply("<o xmlns:a='urn:secret'/>").State, Is.EqualTo(AuditBodyState.Withheld));

    [Test]
    public void Expression_that_takes_too_long_withholds_the_body()
    {
        var body = $"<o>{string.Concat(Enumerable.Repeat("<a><b/></a>", 40_000))}</o>";

        Assert.That(
            SomeMasks.Xpath("//a[count(//a[count(preceding::b) > 5]) > 100000]").Apply(body).State,
            Is.EqualTo(AuditBodyState.Withheld)
        );
    }
}
