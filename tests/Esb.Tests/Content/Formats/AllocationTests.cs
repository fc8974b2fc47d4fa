using System.Buffers;
using System.Text;
using System.Text.Json;
using Esb.Content.Formats;

namespace Esb.Tests.Content.Formats;

/// <summary>What reading a text allocates: nothing for each field, and little or nothing for each record.</summary>
public sealed class AllocationTests
{
    private const int Records = 10_000;
    private const int LargestDifference = 64 * Records; // less than one object for each field of the narrowest record would make

    [Test]
    public void Csv_is_read_without_an_allocation_for_each_field([Values(4, 40)] int fields, [Values] bool isQuoted)
    {
        var types = new[] { "string", "integer", "decimal", "date" };
        var columns = Enumerable.Range(0, fields).Select(field => $"\"c{field}\": \"{types[field % types.Length]}\"");
        using var formats = SomeFormats.Of($$"""{ "type": "csv", "columns": { {{string.Join(", ", columns)}} } }""");
        var quote = isQuoted ? "\"" : "";
        var values = new[] { $"{quote}some {(isQuoted ? "\"\"" : "")}text{quote}", "42", "12.50", "2026-02-01" };
        var header = $"{string.Join(',', Enumerable.Range(0, fields).Select(field => $"c{field}"))}\n";

        AssertConstant(formats.Format, header, $"{string.Join(',', Enumerable.Range(0, fields).Select(field => values[field % 4]))}\n");
    }

    [Test]
    public void Flat_file_is_read_without_an_allocation_for_each_field([Values(4, 40)] int fields, [Values] bool isDelimited)
    {
        var values = new[] { ("string", "text      "), ("integer", "0000000042"), ("decimal", "0000012.50"), ("date", "2026-02-01") };
        var layout = Enumerable
            .Range(0, fields)
            .Select(field =>
                $$"""{ "name": "f{{field}}", {{(isDelimited ? "" : "\"length\": 10, ")}}"type": "{{values[field % 4].Item1}}" }"""
            );
        var delimiter = isDelimited ? "\"delimiter\": \"|\", " : "";
        using var formats = SomeFormats.Of(
            $$"""
            { "type": "flat", "records": [{ "name": "row", "tag": "R", "occurs": "0..*", {{delimiter}}"fields": [{{string.Join(
                ", ",
                layout
            )}}] }] }
            """
        );
        var written = Enumerable.Range(0, fields).Select(field => values[field % 4].Item2);

        AssertConstant(formats.Format, "", isDelimited ? $"R|{string.Join('|', written)}\n" : $"R{string.Concat(written)}\n");
    }

    // The first run makes what every text needs, such as a buffer for the widest record.
    private static void AssertConstant(IMessageFormat format, string header, string record)
    {
        var (few, many) = (TextOf(header, record, 100), TextOf(header, record, 100 + Records));
        BytesMadeBy(format, many);
        var made = BytesMadeBy(format, few);

        var difference = BytesMadeBy(format, many) - made;

        TestContext.Out.WriteLine($"{made} bytes for 100 records, {difference} more for {Records} more");
        Assert.That(difference, Is.LessThan(LargestDifference));
    }

    private static long BytesMadeBy(IMessageFormat format, byte[] text)
    {
        using var json = new Utf8JsonWriter(new DroppedBytes());
        var before = GC.GetAllocatedBytesForCurrentThread();
        format.Read(text, json);
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private static byte[] TextOf(string header, string record, int count) =>
        Encoding.UTF8.GetBytes(new StringBuilder(header).Insert(header.Length, record, count).ToString());

    /// <summary>Takes what is written into the same buffer, again and again.</summary>
    private sealed class DroppedBytes : IBufferWriter<byte>
    {
        private readonly byte[] _buffer = new byte[1 << 20];

        public void Advance(int count) { }

        public Memory<byte> GetMemory(int sizeHint = 0) => _buffer;

        public Span<byte> GetSpan(int sizeHint = 0) => _buffer;
    }
}
