using System.Text;
using Esb.Content.Formats;
using Esb.Core.Errors;

namespace Esb.Tests.Content.Formats;

public sealed class CsvTests
{
    private const string Orders = """
        { "type": "csv", "delimiter": ";", "columns": {
          "sku": "string", "qty": "integer", "price": { "type": "decimal", "decimalSeparator": "," },
          "day": { "type": "date", "format": "dd.MM.yyyy", "optional": true } } }
        """;

    [TestCase("""{ "type": "csv" }""", "a,b\r\n1,\"x,\"\"y\"\"\"\r\n,\r\n", """[{"a":"1","b":"x,\"y\""},{"a":"","b":""}]""")]
    [TestCase(
        """{ "type": "csv", "header": false }""",
        "1,é\r\n2,\"line\nbreak\"\r\n",
        """[{"c1":"1","c2":"é"},{"c1":"2","c2":"line\nbreak"}]"""
    )]
    [TestCase(
        """{ "type": "csv", "delimiter": "\t", "lineEnd": "lf" }""",
        "a\tb\n1\tsaid \"x\"\n",
        """[{"a":"1","b":"said \"x\""}]""",
        false
    )]
    [TestCase("""{ "type": "csv", "escape": "\\" }""", "a\r\n\"x\\\"y\\\\\"\r\n", """[{"a":"x\"y\\"}]""")]
    [TestCase("""{ "type": "csv", "quote": "'" }""", "a\r\n'it''s, so'\r\n", """[{"a":"it's, so"}]""")]
    [TestCase(
        Orders,
        "sku;qty;price;day\r\nA-1;3;-12,50;31.12.2025\r\nA-2;10;0,05;\r\n",
        """[{"sku":"A-1","qty":3,"price":-12.50,"day":"2025-12-31"},{"sku":"A-2","qty":10,"price":0.05}]"""
    )]
    [TestCase(
        """{ "type": "csv", "columns": { "b": { "type": "boolean", "true": "J", "false": "N" }, "t": "time", "at": "dateTime" } }""",
        "b,t,at\r\nJ,07:08:09,2025-01-02T03:04:05\r\nN,00:00:00.5,2025-01-02T03:04:05+01:00\r\n",
        """[{"b":true,"t":"07:08:09","at":"2025-01-02T03:04:05"},{"b":false,"t":"00:00:00.5","at":"2025-01-02T03:04:05+01:00"}]"""
    )]
    [TestCase(
        """{ "type": "csv", "header": false, "columns": { "at": { "type": "dateTime", "format": "yyyyMMdd HHmm zzz" }, "n": "integer" } }""",
        "20250102 0304 +02:00,123456789012345678901234567890\r\n",
        """[{"at":"2025-01-02T03:04:00+02:00","n":123456789012345678901234567890}]"""
    )]
    public void Csv_becomes_json_and_the_same_bytes_again(string format, string text, string json, bool isCanonical = true)
    {
        using var formats = SomeFormats.Of(format);

        Assert.That(formats.ToJson(text), Is.EqualTo(json));
        if (isCanonical)
            Assert.That(formats.FromJson(json), Is.EqualTo(text));
        Assert.That(formats.ToJson(formats.FromJson(json)), Is.EqualTo(json));
    }

    [Test]
    public void Columns_are_matched_by_name_in_any_order()
    {
        using var formats = SomeFormats.Of(Orders);

        Assert.That(formats.ToJson("qty;price;sku\n+007;1;x\n"), Is.EqualTo("""[{"qty":7,"price":1,"sku":"x"}]"""));
    }

    [TestCase("refuse", null)]
    [TestCase("keep", """[{"a":1,"b":"2"}]""")]
    [TestCase("drop", """[{"a":1}]""")]
    public void Columns_that_the_format_does_not_name_are_treated_as_extra_says(string extra, string? expected)
    {
        using var formats = SomeFormats.Of($$"""{ "type": "csv", "columns": { "a": "integer" }, "extra": "{{extra}}" }""");

        if (expected is null)
            Assert.That(formats.Fault("a,b\n1,2\n").Code, Is.EqualTo("ESB-FLAT-HEADER"));
        else
            Assert.That(formats.ToJson("a,b\n1,2\n"), Is.EqualTo(expected));
    }

    [TestCase("fill", "a,b\n1\n", """[{"a":"1","b":""}]""")]
    [TestCase("fill", "a,b\n1,2,3\n", null)]
    [TestCase("drop", "a,b\n1,2,3\n4\n", """[{"a":"1","b":"2"},{"a":"4","b":""}]""")]
    [TestCase("refuse", "a,b\n1\n", null)]
    [Property("Case", "FLT-01")]
    public void Records_with_another_number_of_fields_are_treated_as_ragged_says(string ragged, string text, string? expected)
    {
        using var formats = SomeFormats.Of($$"""{ "type": "csv", "ragged": "{{ragged}}" }""");

        if (expected is not null)
        {
            Assert.That(formats.ToJson(text), Is.EqualTo(expected));
            return;
        }

        var fault = formats.Fault(text);
        Assert.That((fault.Code, fault.Line, fault.Kind), Is.EqualTo(("ESB-FLAT-COLUMNS", 2, FaultKind.Malformed)));
        Assert.That(fault.Message, Does.Match("line 2: expected 2 fields, found [13]"));
    }

    [TestCase("a,b\n1,2\nx,\"open\n3,4\n", 3, 3, "the quote is not closed")]
    [TestCase("a,b\n\"1\n\",\"2\"x\n", 3, 6, "after its closing quote")]
    [Property("Case", "FLT-02")]
    public void Quote_that_does_not_end_its_field_is_refused_where_it_begins(string text, int line, int column, string problem)
    {
        using var formats = SomeFormats.Of("""{ "type": "csv" }""");

        var fault = formats.Fault(text);

        Assert.That((fault.Code, fault.Line, fault.Column), Is.EqualTo(("ESB-FLAT-QUOTE", line, column)));
        Assert.That(fault.Message, Does.Contain(problem));
    }

    [Test, Property("Case", "FLT-04")]
    public void Line_ends_may_be_mixed_and_the_last_may_be_missing()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv" }""");

        Assert.That(formats.ToJson("a\r\n1\n2\r3\r\n\r\n4"), Is.EqualTo("""[{"a":"1"},{"a":"2"},{"a":"3"},{"a":"4"}]"""));
    }

    [Test, Property("Case", "FLT-05")]
    public void Bytes_of_another_encoding_are_refused_with_their_line()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv" }""");

        var fault = formats.Fault([.. "a,b\r\nx,y\r\n1,"u8, 0xE9, .. "\r\n"u8]);

        Assert.That((fault.Code, fault.Line), Is.EqualTo(("ESB-FLAT-ENCODING", 3)));
        Assert.That(fault.Message, Does.Contain("byte 12 (0xE9) is not utf-8"));
    }

    [TestCase("iso-8859-1", "é;ÿ"), TestCase("windows-1252", "€;é"), TestCase("utf-16", "é;ж")]
    public void Configured_encoding_is_read_and_written(string encoding, string fields)
    {
        using var formats = SomeFormats.Of($$"""{ "type": "csv", "delimiter": ";", "header": false, "encoding": "{{encoding}}" }""");
        var bytes = Esb.Content.Charsets.Find(encoding)!.GetBytes(fields + "\r\n");

        var json = formats.ToJson(bytes);
        var written = formats.Converter.Convert(
            SomeContent.Body(json),
            "json",
            "f",
            Esb.Content.Formats.Conversion.ConversionOptions.Default
        );

        Assert.That(json, Is.EqualTo($$"""[{"c1":"{{fields[0]}}","c2":"{{fields[2]}}"}]"""));
        Assert.That(written.Body.Bytes.ToArray(), Is.EqualTo(bytes));
        Assert.That(written.ContentType, Is.EqualTo($"text/csv; charset={encoding}"));
    }

    [Test, Property("Case", "FLT-05")]
    public void Byte_order_mark_wins_over_the_configured_encoding()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv", "encoding": "iso-8859-1" }""");

        Assert.That(formats.ToJson([0xEF, 0xBB, 0xBF, .. Encoding.UTF8.GetBytes("ä\n1\n")]), Is.EqualTo("""[{"ä":"1"}]"""));
        Assert.That(formats.ToJson([0xFF, 0xFE, .. Encoding.Unicode.GetBytes("ä\n1\n")]), Is.EqualTo("""[{"ä":"1"}]"""));
    }

    [Test]
    public void Character_that_the_encoding_does_not_have_cannot_be_written()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv", "encoding": "iso-8859-1" }""");

        var fault = Assert.Throws<FormatFaultException>(() => formats.FromJson("""[{"a":"€"}]"""))!;

        Assert.That((fault.Code, fault.Message), Is.EqualTo(("ESB-FLAT-ENCODING", "f: iso-8859-1 has no character U+20AC.")));
    }

    [Test, Property("Case", "FLT-06")]
    public void Binary_content_is_refused()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv" }""");

        var fault = formats.Fault("a\n1\nPK\u0003\0\n"u8.ToArray());

        Assert.That((fault.Code, fault.Line), Is.EqualTo(("ESB-FLAT-BINARY", 3)));
    }

    [TestCase("a\n1\n{0}\n", 3), TestCase("a\n1\n\"{0}\"\n", 3), TestCase("{0}", 1)]
    [Property("Case", "FLT-07")]
    public void Line_above_the_limit_is_refused(string text, int line)
    {
        using var formats = SomeFormats.Of("""{ "type": "csv", "maxLine": "1KiB" }""");

        var fault = formats.Fault(text.Replace("{0}", new string('x', 1025), StringComparison.Ordinal));

        Assert.That((fault.Code, fault.Line, fault.Kind), Is.EqualTo(("ESB-FLAT-LINE", line, FaultKind.TooLarge)));
        Assert.That(fault.Message, Does.Contain("longer than 1024 bytes"));
    }

    [TestCase("A-1;3;1,5;\n", "missing \"sku\", \"qty\", \"price\"; unknown \"A-1\"")]
    [TestCase("sku;price;menge\nx;1;1\n", "missing \"qty\"; unknown \"menge\"")]
    [TestCase("sku;qty;qty;price\nx;1;1;1\n", "the name \"qty\" twice")]
    [TestCase("sku;qty;;price;x\n", "no name in column 3")]
    [Property("Case", "FLT-08")]
    public void Header_that_does_not_fit_is_refused_with_the_difference(string text, string expected)
    {
        using var formats = SomeFormats.Of(Orders);

        var fault = formats.Fault(text.Replace("A-1;3;1,5;\n", "A-1;3;1,5\n", StringComparison.Ordinal));

        Assert.That((fault.Code, fault.Line), Is.EqualTo(("ESB-FLAT-HEADER", 1)));
        Assert.That(fault.Message, Does.Contain(expected));
    }

    [TestCase("x;1;1.234,5;", "price", 5, "a decimal such as \"1234,50\", without grouping")]
    [TestCase("x;1;1.5;", "price", 5, "a decimal")]
    [TestCase("x;1;1;31/12/2025", "day", 7, "a date as dd.MM.yyyy")]
    [TestCase("x;1;1;31.02.2025", "day", 7, "a date as dd.MM.yyyy")]
    [TestCase("x;1,0;1;", "qty", 3, "an integer")]
    [TestCase("x;;1;", "qty", 3, "an integer, found \"\"")]
    [TestCase("x;½;1;", "qty", 3, "an integer")]
    [Property("Case", "FLT-09")]
    public void Value_of_another_culture_is_refused_with_its_place(string record, string field, int column, string expected)
    {
        using var formats = SomeFormats.Of(Orders);

        var fault = formats.Fault($"sku;qty;price;day\n\"two\nlines\";1;1;\n{record}\n");

        Assert.That((fault.Code, fault.Line, fault.Column, fault.Field), Is.EqualTo(("ESB-FLAT-FORMAT", 4, column, field)));
        Assert.That(fault.Message, Does.Contain($"expected {expected}"));
    }

    [TestCase("accept", "", "[]"), TestCase("accept", "a,b\r\n", "[]"), TestCase("refuse", "", null), TestCase("refuse", "a,b\r\n", null)]
    [Property("Case", "FLT-12")]
    public void Text_without_a_record_is_treated_as_empty_says(string empty, string text, string? expected)
    {
        using var formats = SomeFormats.Of($$"""{ "type": "csv", "empty": "{{empty}}" }""");

        if (expected is null)
            Assert.That(formats.Fault(text).Code, Is.EqualTo("ESB-FLAT-EMPTY"));
        else
            Assert.That(formats.ToJson(text), Is.EqualTo(expected));
    }

    [TestCase("", "a\r\n\"=1+1\"\r\n\"-x\"\r\nx=1\r\n")]
    [TestCase(""", "formulas": "prefix" """, "a\r\n\"'=1+1\"\r\n\"'-x\"\r\nx=1\r\n")]
    [TestCase(""", "formulas": "keep" """, "a\r\n=1+1\r\n-x\r\nx=1\r\n")]
    [Property("Case", "FLT-13")]
    public void Text_that_a_spreadsheet_takes_for_a_formula_is_written_as_formulas_says(string setting, string expected)
    {
        using var formats = SomeFormats.Of($$"""{ "type": "csv"{{setting}} }""");

        Assert.That(formats.FromJson("""[{"a":"=1+1"},{"a":"-x"},{"a":"x=1"}]"""), Is.EqualTo(expected));
    }

    [Test, Property("Case", "FLT-13")]
    public void Negative_number_is_no_formula()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv", "columns": { "n": "decimal" } }""");

        Assert.That(formats.FromJson("""[{"n":-1.50},{"n":1e3},{"n":"-2"}]"""), Is.EqualTo("n\r\n-1.50\r\n1000\r\n-2\r\n"));
    }

    [TestCase("""[{"sku":"x","qty":1.5,"price":1}]""", "record 1, field qty: expected an integer, found 1.5")]
    [TestCase("""[{"sku":"x","qty":1,"price":1},{"sku":{},"qty":1,"price":1}]""", "record 2, field sku: expected a text, found {}")]
    [TestCase("""[{"sku":"x","qty":1}]""", "record 1, field price: expected a decimal")]
    [TestCase("""[{"sku":"x","qty":1,"price":1,"color":"red"}]""", "record 1, field color: the format has no such column")]
    [TestCase("""[1]""", "record 1: expected an object")]
    [TestCase("""[{"sku":"x","qty":1,"price":1,"day":"31.12.2025"}]""", "record 1, field day: expected a date")]
    public void Json_that_does_not_fit_the_columns_is_refused_with_its_place(string json, string expected)
    {
        using var formats = SomeFormats.Of(Orders);

        var fault = Assert.Throws<FormatFaultException>(() => formats.FromJson(json))!;

        Assert.That(fault.Code, Is.EqualTo("ESB-FLAT-FORMAT"));
        Assert.That(fault.Message, Does.Contain(expected));
    }

    [TestCase("""{ "type": "csv", "delimiter": "" }""", "ESB-CFG-VALUE formats.f.delimiter")]
    [TestCase("""{ "type": "csv", "delimiter": "\"" }""", "ESB-CFG-VALUE formats.f.quote")]
    [TestCase("""{ "type": "csv", "encoding": "latin-9000" }""", "ESB-CFG-VALUE formats.f.encoding")]
    [TestCase("""{ "type": "csv", "columns": { "a": { "type": "date", "format": "MM" } } }""", null)]
    [TestCase("""{ "type": "csv", "columns": { "a": { "type": "date", "format": "HH" } } }""", "ESB-CFG-VALUE formats.f.columns.a.format")]
    [TestCase(
        """{ "type": "csv", "columns": { "a": { "type": "integer", "format": "N0" } } }""",
        "ESB-CFG-VALUE formats.f.columns.a.format"
    )]
    [TestCase("""{ "type": "csv", "columns": { "a": "number" } }""", "ESB-CFG-VALUE formats.f.columns.a")]
    [TestCase("""{ "type": "edifact" }""", "ESB-CFG-UNAVAILABLE formats.f.type")]
    public void Settings_that_cannot_be_used_are_configuration_errors(string format, string? expected)
    {
        using var formats = SomeFormats.Of(format);

        if (expected is null)
            Assert.That(formats.Errors, Is.Empty);
        else
            Assert.That(formats.Errors.Single(), Does.StartWith(expected));
    }

    [Test]
    public void Records_are_read_one_by_one_and_a_bad_one_does_not_end_the_others()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv", "columns": { "a": "integer" } }""");

        var records = formats.Format.ReadRecords("a\n1\nx\n\"\n\"\n2"u8.ToArray()).ToList();

        Assert.That(
            records.Select(record =>
                (record.Line, Encoding.UTF8.GetString(record.Json.Span), Encoding.UTF8.GetString(record.Text.Span), record.Fault?.Code)
            ),
            Is.EqualTo(
                new[]
                {
                    (2, """{"a":1}""", "1", null),
                    (3, "", "x", "ESB-FLAT-FORMAT"),
                    (4, "", "\"\n\"", "ESB-FLAT-FORMAT"),
                    (6, """{"a":2}""", "2", (string?)null),
                }
            )
        );
    }
}
