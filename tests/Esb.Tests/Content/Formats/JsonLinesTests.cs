using System.Text;

namespace Esb.Tests.Content.Formats;

public sealed class JsonLinesTests
{
    [Test]
    public void Lines_become_an_array_and_the_same_bytes_again()
    {
        using var formats = SomeFormats.Of("""{ "type": "json-lines" }""");
        const string Text = "{ \"a\": 1.50 }\n[1]\n\"\\u00e9\"\nnull\n";

        var json = formats.ToJson(Text);

        Assert.That(json, Is.EqualTo("""[{ "a": 1.50 },[1],"\u00e9",null]"""));
        Assert.That(formats.FromJson(json), Is.EqualTo(Text));
        Assert.That(formats.FromJson("[{\n  \"a\": \"ä\"\n}]"), Is.EqualTo("{\"a\":\"ä\"}\n"));
    }

    [TestCase("{}\n{\"a\":}\n", 2, 6), TestCase("{}\r\n\r\n1 2", 3, 3)]
    public void Line_that_is_no_json_is_refused_with_its_place(string text, int line, int column)
    {
        using var formats = SomeFormats.Of("""{ "type": "json-lines" }""");

        var fault = formats.Fault(text);

        Assert.That((fault.Code, fault.Line, fault.Column), Is.EqualTo(("ESB-FLAT-FORMAT", line, column)));
    }

    [Test]
    public void Records_behind_a_bad_line_are_read()
    {
        using var formats = SomeFormats.Of("""{ "type": "json-lines" }""");

        var records = formats.Format.ReadRecords("{}\nno\n\n2"u8.ToArray()).ToList();

        Assert.That(
            records.Select(record => (record.Line, Encoding.UTF8.GetString(record.Json.Span), record.Fault?.Code)),
            Is.EqualTo(new[] { (1, "{}", null), (2, "", "ESB-FLAT-FORMAT"), (4, "2", (string?)null) })
        );
    }
}
