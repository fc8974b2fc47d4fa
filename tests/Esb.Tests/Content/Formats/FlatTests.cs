using System.Text;
using Esb.Content.Formats;
using Esb.Content.Formats.Conversion;
using Esb.Core.Errors;

namespace Esb.Tests.Content.Formats;

public sealed class FlatTests
{
    private const string Invoices = """
        { "type": "flat", "encoding": "iso-8859-1", "records": [
          { "name": "head", "tag": "H", "fields": [{ "name": "sender", "length": 10 }] },
          { "name": "order", "tag": "O", "occurs": "0..*", "item": true, "fields": [
              { "name": "id", "length": 8 },
              { "name": "amount", "length": 9, "type": "decimal", "decimals": 2, "align": "right", "pad": "0" }],
            "records": [{ "name": "line", "tag": "L", "occurs": "1..*", "delimiter": "|", "fields": [{ "name": "sku" }, { "name": "note", "optional": true }] }] },
          { "name": "trail", "tag": "T", "fields": [
              { "name": "count", "length": 6, "type": "integer", "align": "right", "pad": "0", "check": { "count": "order" } },
              { "name": "sum", "length": 12, "type": "decimal", "decimals": 2, "align": "right", "pad": "0", "check": { "sum": "order.amount" } }] }] }
        """;

    private const string Text =
        "HM\u00fcller    \r\n"
        + "OA-1     000001250\r\nL|X-1|\u00fcber\r\nL|X-2|\r\n"
        + "OB-2     -00000005\r\nL|Y|\r\n"
        + "T000002000000001245\r\n";

    private const string Json =
        """{"head":{"sender":"Müller"},"order":[{"id":"A-1","amount":12.50,"line":[{"sku":"X-1","note":"über"},{"sku":"X-2","note":""}]},"""
        + """{"id":"B-2","amount":-0.05,"line":[{"sku":"Y","note":""}]}],"trail":{"count":2,"sum":12.45}}""";

    private static readonly byte[] Bytes = Encoding.Latin1.GetBytes(Text);

    [Test]
    public void Records_become_json_and_the_same_bytes_again()
    {
        using var formats = SomeFormats.Of(Invoices);

        var written = formats.Converter.Convert(SomeContent.Body(Json), "json", "f", ConversionOptions.Default);

        Assert.That(formats.ToJson(Bytes), Is.EqualTo(Json));
        Assert.That(written.Body.Bytes.ToArray(), Is.EqualTo(Bytes));
        Assert.That(written.ContentType, Is.EqualTo("text/plain; charset=iso-8859-1"));
    }

    [Test]
    public void Records_become_xml_and_the_same_bytes_again()
    {
        using var formats = SomeFormats.Of(Invoices);

        var xml = formats.Convert(Bytes, "f", "xml");

        Assert.That(
            xml,
            Does.Contain("<f><head><sender>Müller</sender></head><order><id>A-1</id><amount>12.50</amount><line><sku>X-1</sku>")
        );
        Assert.That(
            formats.Converter.Convert(SomeContent.Body(xml), "xml", "f", ConversionOptions.Default).Body.Bytes.ToArray(),
            Is.EqualTo(Bytes)
        );
    }

    [Test]
    public void Missing_counts_and_sums_are_filled_in()
    {
        using var formats = SomeFormats.Of(Invoices);
        var json = Json.Replace(""","trail":{"count":2,"sum":12.45}""", ""","trail":{}""", StringComparison.Ordinal);

        Assert.That(
            formats.Converter.Convert(SomeContent.Body(json), "json", "f", ConversionOptions.Default).Body.Bytes.ToArray(),
            Is.EqualTo(Bytes)
        );
    }

    [TestCase("OA-1     000001250", "OA-1     00001250", 18, 17), TestCase("OA-1     000001250", "OA-1     0000012500", 18, 19)]
    [TestCase("HM\u00fcller    ", "HM\u00fcller", 11, 7)]
    [Property("Case", "FLT-03")]
    public void Record_that_is_too_short_or_too_long_is_refused(string record, string replaced, int expected, int found)
    {
        using var formats = SomeFormats.Of(Invoices);

        var fault = formats.Fault(Encoding.Latin1.GetBytes(Text.Replace(record, replaced, StringComparison.Ordinal)));

        Assert.That((fault.Code, fault.Line), Is.EqualTo(("ESB-FLAT-WIDTH", record[0] == 'H' ? 1 : 2)));
        Assert.That(fault.Message, Does.Contain($"expected {expected} characters, found {found}"));
    }

    [TestCase("T000002", "T000003", "field count: the number of records order is 2, the field says 3")]
    [TestCase("1245\r\n", "1246\r\n", "field sum: the sum of order.amount is 12.45, the field says 12.46")]
    [Property("Case", "FLT-10")]
    public void Trailer_that_does_not_match_the_records_is_refused(string part, string replaced, string expected)
    {
        using var formats = SomeFormats.Of(Invoices);

        var fault = formats.Fault(Encoding.Latin1.GetBytes(Text.Replace(part, replaced, StringComparison.Ordinal)));
        var written = Assert.Throws<FormatFaultException>(() =>
            formats.FromJson(Json.Replace("\"count\":2", "\"count\":3", StringComparison.Ordinal))
        )!;

        Assert.That((fault.Code, fault.Line, fault.Kind), Is.EqualTo(("ESB-FLAT-COUNT", 7, FaultKind.Invalid)));
        Assert.That(fault.Message, Does.EndWith($"{expected}."));
        Assert.That(written.Code, Is.EqualTo("ESB-FLAT-COUNT"));
    }

    [TestCase("T000002000000001245\r\n", "", 7, "expected record trail (tag T), found the end of the text")]
    [TestCase("L|Y|\r\n", "", 6, "expected record line (tag L), found \"T000002000000001245\"")]
    [TestCase("T000002000000001245\r\n", "T000002000000001245\r\nX\r\n", 8, "unexpected record \"X\"")]
    [TestCase("HM\u00fcller    \r\n", "", 1, "expected record head (tag H), found \"OA-1     000001250\"")]
    public void Record_that_is_missing_or_unexpected_is_refused(string part, string replaced, int line, string expected)
    {
        using var formats = SomeFormats.Of(Invoices);

        var fault = formats.Fault(Encoding.Latin1.GetBytes(Text.Replace(part, replaced, StringComparison.Ordinal)));

        Assert.That((fault.Code, fault.Line), Is.EqualTo(("ESB-FLAT-RECORD", line)));
        Assert.That(fault.Message, Does.Contain(expected));
    }

    [TestCase("L|X-1|\u00fcber", "L|X-1|\u00fcber|", "ESB-FLAT-COLUMNS", "expected 3 fields, found 4")]
    [TestCase(
        "000001250",
        "0000012,5",
        "ESB-FLAT-FORMAT",
        "line 2, column 10, field amount: expected digits, of which the last 2 are the fraction"
    )]
    [Property("Case", "FLT-09")]
    public void Field_that_does_not_fit_is_refused_with_its_place(string part, string replaced, string code, string expected)
    {
        using var formats = SomeFormats.Of(Invoices);

        var fault = formats.Fault(Encoding.Latin1.GetBytes(Text.Replace(part, replaced, StringComparison.Ordinal)));

        Assert.That(fault.Code, Is.EqualTo(code));
        Assert.That(fault.Message, Does.Contain(expected));
    }

    [Test]
    public void Items_are_read_with_their_records_and_with_the_fields_around_them()
    {
        using var formats = SomeFormats.Of(Invoices);
        var text = Encoding.Latin1.GetBytes(Text.Replace("000001250", "00000125x", StringComparison.Ordinal));

        var items = formats.Format.ReadRecords(text).ToList();

        Assert.That(
            items.Select(item => (item.Line, Encoding.UTF8.GetString(item.Json.Span), item.Fault?.Code)),
            Is.EqualTo(
                new[] { (2, "", "ESB-FLAT-FORMAT"), (5, """{"id":"B-2","amount":-0.05,"line":[{"sku":"Y","note":""}]}""", (string?)null) }
            )
        );
        Assert.That(Encoding.UTF8.GetString(items[0].Text.Span), Is.EqualTo("OA-1     00000125x\r\nL|X-1|über\r\nL|X-2|"));
        Assert.That(items[1].Surroundings, Is.EqualTo(new[] { KeyValuePair.Create("head.sender", "Müller") }));
    }

    [Test]
    public void Text_that_was_cut_anywhere_is_refused([Range(1, 9)] int tenths)
    {
        using var formats = SomeFormats.Of(Invoices);

        var fault = formats.Fault(Bytes[..(Bytes.Length * tenths / 10)]);

        Assert.That(fault.Code, Is.EqualTo("ESB-FLAT-WIDTH").Or.EqualTo("ESB-FLAT-RECORD").Or.EqualTo("ESB-FLAT-COLUMNS"), fault.Message);
    }

    [Test]
    public void Items_before_the_end_of_the_structure_are_read()
    {
        using var formats = SomeFormats.Of(Invoices);
        var found = new List<int>();

        var fault = Assert.Throws<FormatFaultException>(() =>
            found.AddRange(
                formats
                    .Format.ReadRecords(Encoding.Latin1.GetBytes(Text.Replace("T0", "X0", StringComparison.Ordinal)))
                    .Select(item => item.Line)
            )
        );

        Assert.That((fault!.Code, found), Is.EqualTo(("ESB-FLAT-RECORD", new List<int> { 2, 5 })));
    }

    [TestCase("iso-8859-1", "Aäb  1Böö  2"), TestCase("utf-8", "Aab  1Bcc  2")]
    public void Records_of_one_length_need_no_line_ends(string encoding, string text)
    {
        using var formats = SomeFormats.Of(
            $$$"""
            { "type": "flat", "encoding": "{{{encoding}}}", "length": 6, "records": [
              { "name": "a", "tag": "A", "fields": [{ "name": "t", "length": 4 }, { "name": "n", "length": 1, "type": "integer" }] },
              { "name": "b", "tag": "B", "fields": [{ "name": "t", "length": 4 }, { "name": "n", "length": 1, "type": "integer" }] }] }
            """
        );
        var bytes = Esb.Content.Charsets.Find(encoding)!.GetBytes(text);

        var json = formats.ToJson(bytes);

        Assert.That(json, Is.EqualTo($$$"""{"a":{"t":"{{{text[1..3]}}}","n":1},"b":{"t":"{{{text[7..9]}}}","n":2}}"""));
        Assert.That(
            formats.Converter.Convert(SomeContent.Body(json), "json", "f", ConversionOptions.Default).Body.Bytes.ToArray(),
            Is.EqualTo(bytes)
        );
        Assert.That(formats.Fault(bytes[..^1]).Code, Is.EqualTo("ESB-FLAT-WIDTH"));
    }

    [Test]
    public void Tag_may_stand_behind_fields_and_fillers_are_skipped()
    {
        using var formats = SomeFormats.Of(
            """
            { "type": "flat", "lineEnd": "lf", "records": [{ "name": "a", "tag": "--", "tagAt": 3, "occurs": "1..*", "fields": [
              { "name": "x", "length": 3, "default": "?" }, { "filler": true, "length": 2, "pad": "." },
              { "name": "d", "length": 8, "type": "date", "format": "yyyyMMdd", "optional": true }] }] }
            """
        );
        const string Json = """{"a":[{"x":"ab","d":"2025-01-31"},{"x":"?"}]}""";

        Assert.That(formats.ToJson("ab --??20250131\n   --..        \n"), Is.EqualTo(Json));
        Assert.That(formats.FromJson(Json), Is.EqualTo("ab --..20250131\n?  --..        \n"));
    }

    [TestCase("""{"a":[{"x":"abcd"}]}""", "field x: the value has 4 characters, expected at most 3")]
    [TestCase("""{"a":[{"x":"a\nb"}]}""", "field x: the value has a line end")]
    [TestCase("""{"a":[{"y":"b"}]}""", "field y: the format has no such field")]
    [TestCase("""{"a":[]}""", "expected 1 to 2 of record a, found 0")]
    [TestCase("""{"a":[{},{},{}]}""", "expected 1 to 2 of record a, found 3")]
    [TestCase("[]", "expected an object")]
    public void Json_that_does_not_fit_the_records_is_refused(string json, string expected)
    {
        using var formats = SomeFormats.Of(
            """{ "type": "flat", "records": [{ "name": "a", "occurs": "1..2", "fields": [{ "name": "x", "length": 3 }] }] }"""
        );

        Assert.That(Assert.Throws<FormatFaultException>(() => formats.FromJson(json))!.Message, Does.Contain(expected));
    }

    [TestCase("""[]""", "ESB-CFG-VALUE formats.f.records")]
    [TestCase("""[{ "name": "a" }, { "name": "b", "tag": "B" }]""", "ESB-CFG-VALUE formats.f.records[0].tag")]
    [TestCase("""[{ "name": "a", "fields": [{ "name": "x" }] }]""", "ESB-CFG-REQUIRED formats.f.records[0].fields[0].length")]
    [TestCase("""[{ "name": "a", "fields": [{ "length": 1 }] }]""", "ESB-CFG-REQUIRED formats.f.records[0].fields[0].name")]
    [TestCase("""[{ "name": "a", "occurs": "2..1" }]""", "ESB-CFG-VALUE formats.f.records[0].occurs")]
    [TestCase(
        """[{ "name": "a", "tag": "A", "tagAt": 1, "fields": [{ "name": "x", "length": 2 }] }]""",
        "ESB-CFG-VALUE formats.f.records[0].tagAt"
    )]
    [TestCase(
        """[{ "name": "a", "fields": [{ "name": "n", "length": 2, "type": "integer", "check": { "count": "b" } }] }]""",
        "ESB-CFG-REF formats.f.records[0].fields[0].check.count"
    )]
    [TestCase("""[{ "name": "a", "tag": "A" }, { "name": "a", "tag": "B" }]""", "ESB-CFG-DUPNAME formats.f.records[1].name")]
    public void Layouts_that_cannot_be_used_are_configuration_errors(string records, string expected)
    {
        using var formats = SomeFormats.Of($$"""{ "type": "flat", "records": {{records}} }""");

        Assert.That(formats.Errors, Has.Some.StartsWith(expected));
    }
}
