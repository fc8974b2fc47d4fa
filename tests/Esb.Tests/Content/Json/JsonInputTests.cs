using System.Text;
using Esb.Content.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Json;

public sealed class JsonInputTests
{
    [TestCase("{\"a\": 1,\n \"b\" 2}", "line 2, byte 6")]
    [TestCase("<order/>", "line 1, byte 1")]
    [TestCase("{\"a\": ", "line 1, byte 7")]
    [Property("Case", "JSN-01")]
    public void Anything_that_is_no_JSON_is_refused_with_its_place(string text, string place)
    {
        var error = Refused(text);

        Assert.That(error.Code, Is.EqualTo("ESB-JSON-SYNTAX"));
        Assert.That(error.Kind, Is.EqualTo(FaultKind.Malformed));
        Assert.That(error.Message, Does.Contain(place));
    }

    [Test, Property("Case", "JSN-02")]
    public void Arrays_nested_too_deep_are_refused()
    {
        var error = Refused(new string('[', 10_000) + new string(']', 10_000));

        Assert.That(error.Code, Is.EqualTo("ESB-JSON-DEPTH"));
        Assert.That(error.Message, Does.Contain("64 levels").And.Contain("line 1, byte 65"));
    }

    [Test]
    public void As_many_levels_as_allowed_are_read()
    {
        Assert.That(() => JsonInput.Read(SomeContent.Body(new string('[', 64) + new string(']', 64))), Throws.Nothing);
    }

    [TestCase("""{"a": 1, "b": {"a": 1}, "a": 2}""", "a", "byte 25")]
    [TestCase("""{"a": 1, "\u0061": 2}""", "a", "byte 10")]
    [Property("Case", "JSN-03")]
    public void A_name_that_comes_twice_is_refused(string text, string name, string place)
    {
        var error = Refused(text);

        Assert.That(error.Code, Is.EqualTo("ESB-JSON-DUPKEY"));
        Assert.That(error.Message, Does.Contain($"\"{name}\"").And.Contain(place));
    }

    [TestCase("{\"a\": 1 // note\n}")]
    [TestCase("/* note */ 1")]
    [TestCase("{\"a\": 1,}")]
    [TestCase("[1,]")]
    [TestCase("{'a': 1}")]
    [Property("Case", "JSN-09")]
    public void No_dialect_is_accepted(string text)
    {
        Assert.That(Refused(text).Code, Is.EqualTo("ESB-JSON-SYNTAX"));
    }

    [TestCase("{\"a\": NaN}")]
    [TestCase("{\"a\": Infinity}")]
    [TestCase("{\"a\": -Infinity}")]
    [TestCase("{\"a\": 0x10}")]
    [TestCase("{\"a\": 01}")]
    [TestCase("{\"a\": +1}")]
    [TestCase("{\"a\": .5}")]
    [TestCase("{\"a\": 1.}")]
    [Property("Case", "JSN-05")]
    public void A_number_that_JSON_cannot_write_is_refused_with_its_place(string text)
    {
        var error = Refused(text);

        Assert.That(error.Code, Is.EqualTo("ESB-JSON-NUMBER"));
        Assert.That(error.Message, Does.Match("line 1, byte (7|8|9)"));
    }

    [TestCase("{\"a\": 1} {\"b\": 2}", "extra data at offset 9")]
    [TestCase("{\"a\": 1}\n]", "extra data at offset 9")]
    [TestCase("1 2", "extra data at offset 2")]
    [Property("Case", "JSN-14")]
    public void A_second_document_behind_the_first_is_refused_with_its_offset(string text, string reason)
    {
        var error = Refused(text);

        Assert.That(error.Code, Is.EqualTo("ESB-JSON-SYNTAX"));
        Assert.That(error.Message, Does.Contain(reason));
    }

    [Test, Property("Case", "JSN-13")]
    public void A_name_of_a_mebibyte_and_a_million_members_are_refused()
    {
        var name = Refused($"{{\"{new string('n', 1 << 20)}\": 1}}");
        var members = Refused($"{{{string.Join(',', Enumerable.Range(0, 1_000_000).Select(i => $"\"{i}\":{i}"))}}}");

        Assert.That((name.Code, name.Kind), Is.EqualTo(("ESB-JSON-LIMIT", FaultKind.TooLarge)));
        Assert.That((members.Code, members.Kind), Is.EqualTo(("ESB-JSON-LIMIT", FaultKind.TooLarge)));
        Assert.That(name.Message, Does.Contain("line 1, byte 2").And.Contain("65536 bytes"));
        Assert.That(members.Message, Does.Contain("100000 members"));
    }

    [Test]
    public void As_many_members_as_allowed_are_read_and_none_may_come_twice()
    {
        var members = string.Join(',', Enumerable.Range(0, JsonInput.MaxMembers - 1).Select(i => $"\"{i}\":{i}"));

        Assert.That(JsonInput.Read(SomeContent.Body($"{{{members},\"last\":1}}")).GetPropertyCount(), Is.EqualTo(JsonInput.MaxMembers));
        Assert.That(Refused($"{{{members},\"99\":1}}").Code, Is.EqualTo("ESB-JSON-DUPKEY"));
    }

    [Test, Property("Case", "JSN-07")]
    public void Bytes_that_are_not_UTF_8_are_refused()
    {
        var bytes = Encoding.Latin1.GetBytes("{\"a\": \"é\"}");

        Assert.That(
            () => JsonInput.Read(MessageBody.FromBytes(bytes)),
            Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-JSON-ENCODING")
        );
    }

    [Test, Property("Case", "JSN-08")]
    public void A_byte_order_mark_of_UTF_8_is_passed_over_and_UTF_16_refused()
    {
        byte[] marked = [0xEF, 0xBB, 0xBF, .. "[1]"u8];

        Assert.That(JsonInput.Read(MessageBody.FromBytes(marked)).GetArrayLength(), Is.EqualTo(1));
        Assert.That(
            () => JsonInput.Read(MessageBody.FromBytes((byte[])[.. Encoding.Unicode.GetPreamble(), .. Encoding.Unicode.GetBytes("[1]")])),
            Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-JSON-ENCODING")
        );
    }

    [TestCase("")]
    [TestCase("  \n")]
    public void A_body_without_a_document_is_refused_as_empty(string text)
    {
        Assert.That(Refused(text).Code, Is.EqualTo("ESB-JSON-EMPTY"));
    }

    [Test]
    public void A_document_is_parsed_once_for_all_copies_of_its_message()
    {
        var body = SomeContent.Body("{\"a\": 1}");

        var first = JsonInput.Read(body);
        var second = JsonInput.Read(body);

        Assert.That(second, Is.EqualTo(first), "elements are equal when they are the same place of the same document");
    }

    private static EsbException Refused(string text) => Assert.Throws<EsbException>(() => JsonInput.Read(SomeContent.Body(text)))!;
}
