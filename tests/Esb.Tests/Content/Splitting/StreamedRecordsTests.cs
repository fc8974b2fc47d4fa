using System.Text;
using Esb.Content.Formats;
using Esb.Core.Errors;
using Esb.Tests.Content.Formats;

namespace Esb.Tests.Content.Splitting;

/// <summary>Records of streams: the same as of a text in memory, with a window of it in memory at a time.</summary>
[CancelAfter(60_000)]
public sealed class StreamedRecordsTests
{
    private const string Csv = """{ "type": "csv", "columns": { "a": "integer", "b": "string" } }""";

    private const string Flat = """
        { "type": "flat", "records": [{ "name": "row", "tag": "R", "occurs": "0..*", "item": true, "fields": [{ "name": "n", "length": 1 }] }] }
        """;

    private static readonly string[] Texts =
    [
        "",
        "a,b\n",
        "a,b\r\n1,x\r\n2,\"y\r\nz\"\r\n\r\n\r\n3,\"say \"\"ü\"\"\"\r\nbad,4\r\n5,last",
        "a,b\r1,x\r\r2,y\r",
        "a,b\n1,€😀\n2,\"\"\n3,\"\n\n\"\nx,y,z\n4,end\n",
    ];

    [Test]
    public void Records_of_a_stream_are_those_of_the_text([ValueSource(nameof(Texts))] string text, [Values(1, 2, 3, 7, 100_000)] int piece)
    {
        using var formats = SomeFormats.Of(Csv);

        AssertSame(formats.Format, Encoding.UTF8.GetBytes(text), piece);
    }

    [Test]
    public void Item_of_many_records_is_refused_above_the_limit_of_bodies()
    {
        using var formats = SomeFormats.Of(
            """
            { "type": "flat", "records": [{ "name": "order", "tag": "O", "occurs": "0..*", "item": true, "fields": [{ "name": "n", "length": 1 }],
              "records": [{ "name": "line", "tag": "L", "occurs": "1..*", "fields": [{ "name": "n", "length": 63 }] }] }] }
            """,
            """, "limits": { "maxBodySize": "64KiB" }"""
        );
        var line = Encoding.UTF8.GetBytes($"L{new string('x', 63)}\n");
        using var stream = new GeneratedStream(number =>
            number switch
            {
                0 => "O1\nLFIRST"u8.ToArray(),
                1 => Encoding.UTF8.GetBytes($"{new string('x', 58)}\nO2\n"),
                < 20_000 => line,
                _ => null,
            }
        );
        var items = new List<int>();

        var error = Assert.Throws<FormatFaultException>(() =>
        {
            foreach (var item in formats.Format.ReadRecords(stream))
                items.Add(item.Line);
        })!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-FLAT-ITEM", FaultKind.TooLarge)));
        Assert.That(error.Message, Does.Contain("line 3").And.Contains("65536 bytes"));
        Assert.That(items, Is.EqualTo(new[] { 1 }), "what is before it is read");
        Assert.That(stream.BytesRead, Is.LessThan(1 << 18));
    }

    [TestCase("utf-16"), TestCase("utf-16BE"), TestCase("utf-32"), TestCase("utf-8")]
    public void Byte_order_mark_of_a_stream_takes_precedence(string name)
    {
        using var formats = SomeFormats.Of("""{ "type": "csv", "encoding": "iso-8859-1" }""");
        var encoding = Encoding.GetEncoding(name);

        AssertSame(formats.Format, [.. encoding.GetPreamble(), .. encoding.GetBytes("name\n€😀\nÄ\n")], piece: 3);
    }

    [Test]
    public void Stream_in_another_encoding_is_read()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv", "encoding": "iso-8859-1" }""");

        AssertSame(formats.Format, Encoding.Latin1.GetBytes("name\nMüller\nÄ\n"), piece: 1);
    }

    [Test]
    public void Records_that_are_longer_than_a_window_are_read()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv" }""");
        var text = $"a,b\n1,{new string('x', 200_000)}\n2,\"{string.Concat(Enumerable.Repeat("line\n", 60_000))}\"\n3,y\n";

        AssertSame(formats.Format, Encoding.UTF8.GetBytes(text), piece: 10_000);
    }

    [Test]
    public void Lines_of_json_are_those_of_the_text([Values(1, 5, 100_000)] int piece)
    {
        using var formats = SomeFormats.Of("""{ "type": "json-lines" }""");

        AssertSame(formats.Format, Encoding.UTF8.GetBytes("{\"a\":\"ü\"}\r\n\r\n no \r2\n\n[3]"), piece);
    }

    [Test]
    public void Items_of_a_flat_file_are_those_of_the_text([Values(1, 7, 100_000)] int piece, [Values("12,5", "00x0")] string second)
    {
        using var formats = SomeFormats.Of(
            """
            { "type": "flat", "encoding": "iso-8859-1", "records": [
              { "name": "head", "tag": "H", "fields": [{ "name": "sender", "length": 6 }] },
              { "name": "order", "tag": "O", "occurs": "0..*", "item": true, "fields": [{ "name": "amount", "length": 4, "type": "decimal", "decimals": 2, "align": "right", "pad": "0" }],
                "records": [{ "name": "line", "tag": "L", "occurs": "0..*", "delimiter": "|", "fields": [{ "name": "sku" }] }] },
              { "name": "trail", "tag": "T", "fields": [{ "name": "count", "length": 3, "type": "integer", "align": "right", "pad": "0", "check": { "count": "order" } }] }] }
            """
        );

        AssertSame(formats.Format, Encoding.Latin1.GetBytes($"HMüller\r\nO0100\r\nL|ä\r\nL|b\r\nO{second}\r\nL|c\r\nT002\r\n"), piece);
    }

    [
        TestCase(Flat, "R1\nR2\nX3\nR4", "ESB-FLAT-RECORD", 3),
        TestCase("""{ "type": "csv" }""", "a\n1\n\"2\n3", "ESB-FLAT-QUOTE", 3),
        TestCase("""{ "type": "csv", "maxLine": "16B" }""", "a\n1\n\"2 and so on and on\n\n\n\n\n\n and on", "ESB-FLAT-QUOTE", 3),
        TestCase("""{ "type": "csv", "maxLine": "16B" }""", "a\n1\n2 and so on and on and on", "ESB-FLAT-LINE", 3),
        TestCase("""{ "type": "json-lines", "maxLine": "16B" }""", "1\n2\n[\"and so on and on and on\"]", "ESB-FLAT-LINE", 3),
        TestCase("""{ "type": "csv" }""", "a\r\n1\r\n2\r\n3\0", "ESB-FLAT-BINARY", 4)
    ]
    public void Text_that_cannot_be_divided_any_more_ends_there_and_the_records_before_stand(
        string format,
        string text,
        string code,
        int line
    )
    {
        using var formats = SomeFormats.Of(format);
        var lines = new List<int>();

        var fault = Assert.Throws<FormatFaultException>(() =>
        {
            foreach (var record in formats.Format.ReadRecords(GeneratedStream.Of(Encoding.UTF8.GetBytes(text), mostAtOnce: 4)))
                lines.Add(record.Line);
        })!;

        Assert.That((fault.Code, fault.Line), Is.EqualTo((code, line)), fault.Message);
        Assert.That(lines, Has.Count.GreaterThanOrEqualTo(1));
    }

    [TestCase(new byte[] { 0xC3 }), TestCase(new byte[] { 0xFF, 0x31 }), TestCase(new byte[] { 0xE2, 0x82, 0x0A })]
    public void Byte_that_is_not_of_the_encoding_is_refused_with_its_place(byte[] bad)
    {
        using var formats = SomeFormats.Of("""{ "type": "csv" }""");
        byte[] text = [.. "a\r\nü\r\n1,"u8, .. bad];

        var fault = Assert.Throws<FormatFaultException>(() =>
            formats.Format.ReadRecords(GeneratedStream.Of(text, mostAtOnce: 2)).ToList()
        )!;

        Assert.That((fault.Code, fault.Line), Is.EqualTo(("ESB-FLAT-ENCODING", 3)));
        Assert.That(fault.Message, Does.Contain($"byte {text.Length - bad.Length} (0x{bad[0]:X2}) is not utf-8"));
    }

    [TestCase("csv", "number,text\n", "{0},a text of some length to fill the record with\n")]
    [TestCase("json-lines", "", "{{\"number\":{0},\"text\":\"a text of some length to fill the record with\"}}\n")]
    [TestCase("flat", "", "R{0:0000000}a text of some length to fill the record with\n")]
    [Property("Case", "FLT-14")]
    public void Text_of_any_length_is_divided_with_a_part_of_it_in_memory(string type, string head, string row)
    {
        const int Rows = 2_000_000; // about 100 MB
        const int Block = 1_000;
        using var formats = SomeFormats.Of(
            type == "flat" ? Flat.Replace("\"length\": 1", "\"length\": 52", StringComparison.Ordinal) : $$"""{ "type": "{{type}}" }"""
        );
        var format = CompositeFormat.Parse(row);
        using var stream = new GeneratedStream(number =>
            number > Rows / Block ? null
            : number == 0 ? Encoding.UTF8.GetBytes(head)
            : Encoding.UTF8.GetBytes(
                string.Concat(
                    Enumerable
                        .Range((number - 1) * Block, Block)
                        .Select(one => string.Format(System.Globalization.CultureInfo.InvariantCulture, format, one))
                )
            )
        );
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var (count, readAtFirst, most) = (0, 0L, 0L);

        foreach (var record in formats.Format.ReadRecords(stream))
        {
            Assert.That(record.Fault, Is.Null);
            if (count++ == 0)
                readAtFirst = stream.BytesRead;
            if (count % (Rows / 10) == 0)
                most = Math.Max(most, GC.GetTotalMemory(forceFullCollection: true) - before);
        }

        Assert.That(count, Is.EqualTo(Rows));
        Assert.That(readAtFirst, Is.LessThan(stream.BytesRead / 100), "the first record before 1 % is read");
        Assert.That(most, Is.LessThan(8 << 20), "bytes in memory");
    }

    [TestCase("""{ "type": "csv" }""", "a\n1\n2", "ESB-FLAT-LINE")]
    [TestCase("""{ "type": "csv" }""", "a\n1\n\"2", "ESB-FLAT-QUOTE")]
    [TestCase("""{ "type": "json-lines" }""", "\n1\n\"", "ESB-FLAT-LINE")]
    [TestCase(Flat, "R1\nR2\nR", "ESB-FLAT-LINE")]
    [Property("Case", "FLT-07")]
    public void Line_of_a_hundred_megabytes_without_an_end_is_refused_when_it_is_longer_than_a_line_may_be(
        string format,
        string head,
        string code
    )
    {
        using var formats = SomeFormats.Of(format);
        var piece = new byte[1 << 20];
        piece.AsSpan().Fill((byte)'x');
        using var stream = new GeneratedStream(number =>
            number switch
            {
                0 => Encoding.UTF8.GetBytes(head),
                <= 100 => piece,
                _ => null,
            }
        );
        var records = 0;
        var before = GC.GetAllocatedBytesForCurrentThread();

        var fault = Assert.Throws<FormatFaultException>(() =>
        {
            foreach (var _ in formats.Format.ReadRecords(stream))
                records++;
        })!;

        Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.LessThan(16 << 20), "bytes made on the way to the limit");
        Assert.That((fault.Code, fault.Line), Is.EqualTo((code, 3)), fault.Message);
        Assert.That(records, Is.EqualTo(1), "what is before it is read");
        Assert.That(stream.BytesRead, Is.LessThan(8 << 20), "and the rest of it is not");
    }

    [TestCase("csv", "number,text\n", "1,")]
    [TestCase("json-lines", "", "{\"number\":1,\"text\":\"", "\"}")]
    [TestCase("flat", "", "R")]
    [Category("Thorough"), CancelAfter(600_000), Property("Case", "FLT-14")]
    public void Text_of_more_than_two_gibibytes_is_divided_whole_with_a_part_of_it_in_memory(
        string type,
        string head,
        string start,
        string end = ""
    )
    {
        const int RowsOfBlock = 4_000;
        const long Size = (2L << 30) + (1 << 20);
        var row = Encoding.UTF8.GetBytes($"{start}{new string('x', 255 - start.Length - end.Length)}{end}\n");
        var block = Enumerable.Repeat(row, RowsOfBlock).SelectMany(bytes => bytes).ToArray();
        var blocks = (int)(Size / block.Length) + 1;
        using var formats = SomeFormats.Of(
            type == "flat" ? Flat.Replace("\"length\": 1", "\"length\": 254", StringComparison.Ordinal) : $$"""{ "type": "{{type}}" }"""
        );
        using var stream = new GeneratedStream(number =>
            number == 0 ? Encoding.UTF8.GetBytes(head)
            : number <= blocks ? block
            : null
        );
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var (count, line, most) = (0, 0, 0L);

        foreach (var record in formats.Format.ReadRecords(stream))
        {
            line = record.Line;
            if (record.Fault is not null || record.Json.Length < 250)
                Assert.Fail($"The record at line {line} is not whole: {record.Fault?.Message}");
            if (++count % (RowsOfBlock * 500) == 0)
                most = Math.Max(most, GC.GetTotalMemory(forceFullCollection: true) - before);
        }

        Assert.That(stream.BytesRead, Is.GreaterThan(2L << 30));
        Assert.That((count, line), Is.EqualTo((blocks * RowsOfBlock, blocks * RowsOfBlock + (head.Length > 0 ? 1 : 0))));
        Assert.That(most, Is.LessThan(8 << 20), "bytes in memory");
    }

    // An empty block would end the stream.
    private static void AssertSame(IMessageFormat format, byte[] text, int piece)
    {
        var expected = format.ReadRecords(text).Select(Shown).ToList();

        var actual = format.ReadRecords(GeneratedStream.Of(text, piece)).Select(Shown).ToList();

        Assert.That(actual, Is.EqualTo(expected));

        static (int, string, string?, string?) Shown(FormatRecord record) =>
            (
                record.Line,
                Encoding.UTF8.GetString(record.Json.Span),
                record.Fault?.Message,
                record.Fault is null ? null : Encoding.UTF8.GetString(record.Text.Span)
            );
    }
}
