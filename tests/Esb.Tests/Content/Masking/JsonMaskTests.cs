using System.Text;
using System.Text.Json;
using Esb.Content.Masking;
using Esb.Core.Audit;

namespace Esb.Tests.Content.Masking;

public sealed class JsonMaskTests
{
    private const string Card = "4111111111111111";

    [TestCase("""{"card":"4111111111111111","total":5}""", "$.card", """{"card":"****1111","total":5}""", TestName = "text")]
    [TestCase(
        """{"card":4111111111111111,"total":5.10}""",
        "$.card",
        """{"card":"****1111","total":5.10}""",
        TestName = "a number; others as they are written"
    )]
    [TestCase("""{"c\u0061rd":"4111111111111111"}""", "$.card", """{"card":"****1111"}""", TestName = "an escaped name")]
    [TestCase("""{"card":"\u0034111111111111111"}""", "$.card", """{"card":"****1111"}""", TestName = "an escaped value")]
    [TestCase(
        """{"cards":["4111111111111111","12"]}""",
        "$.cards[*]",
        """{"cards":["****1111","****"]}""",
        TestName = "items, short ones whole"
    )]
    [TestCase(
        """{"cards":["4111111111111111","12345678"]}""",
        "$.cards",
        """{"cards":"****"}""",
        TestName = "an array shows no characters"
    )]
    [TestCase("""{"card":{"number":"4111111111111111"}}""", "$.card", """{"card":"****"}""", TestName = "an object shows no characters")]
    [TestCase(
        """{"a":[{"card":"4111111111111111"},{"b":{"card":41111111}}]}""",
        "$..card",
        """{"a":[{"card":"****1111"},{"b":{"card":"****1111"}}]}""",
        TestName = "at any depth"
    )]
    [TestCase("""{"card":true,"x":null}""", "$.*", """{"card":"****","x":"****"}""", TestName = "true and null")]
    [TestCase(""" "4111111111111111" """, "$", "\"****1111\"", TestName = "the root")]
    [TestCase("""{"card":"€£¥ ünï 4111"}""", "$.card", """{"card":"****4111"}""", TestName = "characters of several bytes")]
    public void Value_shows_its_last_four_characters(string body, string path, string expected)
    {
        var masked = SomeMasks.Jsonpath(path).Apply(body);

        Assert.That((masked.Text(), masked.State), Is.EqualTo((expected, AuditBodyState.Masked)));
    }

    [TestCase("""{"card":"4111111111111111","total":5}""", "$.card", """{"total":5}""")]
    [TestCase("""{"total":5,"card":{"number":[1,2]}}""", "$.card", """{"total":5}""")]
    [TestCase("""{"cards":[1,[2,3],4]}""", "$.cards[1]", """{"cards":[1,4]}""")]
    [TestCase("""{"a":1,"b":2}""", "$.*", "{}")]
    [TestCase("""{"a":1}""", "$", "null")]
    public void Dropped_value_goes_with_its_name(string body, string path, string expected) =>
        Assert.That(SomeMasks.Jsonpath(path, MaskAction.Drop).Apply(body).Text(), Is.EqualTo(expected));

    [Test]
    public void Stricter_rule_decides_where_two_meet()
    {
        var mask = SomeMasks.Of(
            new MaskConfig { Jsonpath = "$.card", Action = MaskAction.Drop },
            new MaskConfig { Jsonpath = "$..card", Action = MaskAction.Last4 }
        );

        Assert.That(mask.Apply($$"""{"card":"{{Card}}"}""").Text(), Is.EqualTo("{}"));
    }

    [TestCase("""{"card":"1","card":"4111111111111111"}""", TestName = "a name twice")]
    [TestCase("""{"card":"1","c\u0061rd":"4111111111111111"}""", TestName = "a name twice, once escaped")]
    [TestCase("""{"card":"4111111111111111""", TestName = "cut off")]
    [TestCase("""{"a":1} {"card":"4111111111111111"}""", TestName = "two documents")]
    [TestCase("""xx{"card":"4111111111111111"}""", TestName = "something before it")]
    [TestCase("""{"card":"4111111111111111",}""", TestName = "a trailing comma")]
    [TestCase("{\"card\":\"4111111111111111\",\"x\":\"\\ud800\"}", TestName = "half of a surrogate pair")]
    public void What_is_no_sound_JSON_is_withheld(string body)
    {
        var masked = SomeMasks.Jsonpath("$.*").Apply(body);

        Assert.That((masked.State, masked.Message.Body.Length), Is.EqualTo((AuditBodyState.Withheld, 0L)));
    }

    [Test]
    public void Bytes_that_are_no_UTF8_are_withheld()
    {
        byte[] body = [.. Encoding.UTF8.GetBytes($$"""{"card":"{{Card}}","x":"""), (byte)'"', 0xFF, (byte)'"', (byte)'}'];

        Assert.That(SomeMasks.Jsonpath("$.card").Apply(body).State, Is.EqualTo(AuditBodyState.Withheld));
    }

    [Test]
    public void Byte_order_mark_and_blanks_before_it_do_not_hide_anything()
    {
        byte[] body = [.. Encoding.UTF8.Preamble, .. Encoding.UTF8.GetBytes($$"""  { "card" : "{{Card}}" }""")];

        Assert.That(SomeMasks.Jsonpath("$.card").Apply(body).Text(), Is.EqualTo("""{"card":"****1111"}"""));
    }

    [Test]
    public void Document_in_UTF16_is_withheld() =>
        Assert.That(
            SomeMasks.Jsonpath("$.card").Apply(Encoding.Unicode.GetBytes($$"""{"card":"{{Card}}"}""")).State,
            Is.EqualTo(AuditBodyState.Withheld)
        );

    [Test]
    public void Long_document_is_masked_throughout()
    {
        var body = JsonSerializer.Serialize(Enumerable.Range(0, 20_000).Select(i => new { id = i, card = $"41111111{i:D8}" }));

        var masked = SomeMasks.Jsonpath("$[*].card").Apply(body).Text();

        Assert.That(masked, Does.Not.Contain("41111111"));
        Assert.That(JsonDocument.Parse(masked).RootElement.GetArrayLength(), Is.EqualTo(20_000));
    }

    [Test]
    public void Document_without_the_secret_stays_byte_for_byte()
    {
        var message = Some.Message("{ \"a\" : 1.0 }");

        var masked = SomeMasks.Jsonpath("$.card").Apply(message);

        Assert.That((masked.State, ReferenceEquals(masked.Message.Body, message.Body)), Is.EqualTo((AuditBodyState.Whole, true)));
    }
}
