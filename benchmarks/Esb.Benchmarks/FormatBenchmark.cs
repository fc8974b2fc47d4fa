using System.Buffers;
using System.Text;
using System.Text.Json;
using BenchmarkDotNet.Attributes;
using Esb.Content.Formats;
using Esb.Content.Formats.Csv;
using Esb.Content.Formats.Fields;
using Esb.Content.Formats.Flat;
using Esb.Core.Configuration;

namespace Esb.Benchmarks;

/// <summary>Texts of 10,000 records, divided into fields and turned into JSON. The baseline only checks that the bytes are UTF-8.</summary>
[MemoryDiagnoser]
public class FormatBenchmark
{
    private const int Records = 10_000;

    private static readonly CsvFormatConfig Columns = new()
    {
        Columns = new Dictionary<string, CsvColumnConfig>
        {
            ["sku"] = new(),
            ["customer"] = new(),
            ["qty"] = new() { Type = FieldKind.Integer },
            ["price"] = new() { Type = FieldKind.Decimal },
            ["day"] = new() { Type = FieldKind.Date },
        },
    };

    private static readonly FlatFormatConfig Positions = new()
    {
        Records =
        [
            new FlatRecordConfig
            {
                Record = "order",
                Tag = "O",
                Occurs = "0..*",
                Fields =
                [
                    new FlatFieldConfig { Field = "sku", Length = 12 },
                    new FlatFieldConfig { Field = "customer", Length = 30 },
                    new FlatFieldConfig
                    {
                        Field = "qty",
                        Length = 6,
                        Type = FieldKind.Integer,
                        Align = FieldAlignment.Right,
                        Pad = "0",
                    },
                    new FlatFieldConfig
                    {
                        Field = "price",
                        Length = 10,
                        Type = FieldKind.Decimal,
                        Decimals = 2,
                        Align = FieldAlignment.Right,
                        Pad = "0",
                    },
                ],
            },
        ],
    };

    private static readonly FlatFormatConfig Choices = new()
    {
        Records =
        [
            new FlatRecordConfig
            {
                Record = "order",
                Tag = "O",
                Delimiter = ";",
                Occurs = "0..*",
                Fields =
                [
                    new FlatFieldConfig { Field = "sku" },
                    new FlatFieldConfig { Field = "customer" },
                    new FlatFieldConfig { Field = "qty", Type = FieldKind.Integer },
                    new FlatFieldConfig { Field = "unit", Default = "piece" },
                    new FlatFieldConfig { Field = "price", Type = FieldKind.Decimal },
                ],
                Records =
                [
                    new FlatRecordConfig
                    {
                        Record = "note",
                        Tag = "N",
                        Delimiter = ";",
                        Occurs = "0..1",
                        Fields = [new FlatFieldConfig { Field = "text" }],
                    },
                    new FlatRecordConfig
                    {
                        Record = "discount",
                        Tag = "D",
                        Delimiter = ";",
                        Occurs = "0..1",
                        Fields = [new FlatFieldConfig { Field = "percent", Type = FieldKind.Integer }],
                    },
                ],
            },
        ],
    };

    private readonly IMessageFormat _choices = FormatCompiler.Compile("choices", Choices, new ConfigErrors())!;
    private readonly IMessageFormat _csv = FormatCompiler.Compile("csv", Columns, new ConfigErrors())!;
    private readonly IMessageFormat _flat = FormatCompiler.Compile("flat", Positions, new ConfigErrors())!;
    private readonly ArrayBufferWriter<byte> _json = new(16 << 20);

    /// <summary>The text of comma-separated values.</summary>
    public byte[] Csv { get; } =
        Encoding.UTF8.GetBytes(
            "sku,customer,qty,price,day\r\n"
                + string.Concat(
                    Enumerable
                        .Range(0, Records)
                        .Select(n => $"A-{n:000000},\"Customer, number {n}\",{n % 100},{n % 1000}.50,2025-12-{1 + (n % 28):00}\r\n")
                )
        );

    /// <summary>The text of positional records.</summary>
    public byte[] Flat { get; } =
        Encoding.UTF8.GetBytes(
            string.Concat(
                Enumerable
                    .Range(0, Records)
                    .Select(n => $"OA-{n:000000}    {$"Customer number {n}", -30}{n % 100:000000}{n % 1000 * 100:0000000000}\r\n")
            )
        );

    /// <summary>The text of delimited records, of which some fields and some records are missing.</summary>
    public byte[] Optional { get; } =
        Encoding.UTF8.GetBytes(
            string.Concat(
                Enumerable
                    .Range(0, Records)
                    .Select(n =>
                        $"O;A-{n:000000};{(n % 2 == 0 ? $"Customer number {n}" : "")};{n % 100};{(n % 3 == 0 ? "box" : "")};{n % 1000}.50\r\n"
                        + (n % 2 == 0 ? $"N;by noon, number {n}\r\n" : "")
                        + (n % 5 == 0 ? $"D;{n % 30}\r\n" : "")
                    )
            )
        );

    [Benchmark(Baseline = true)]
    public bool Utf8Alone() => System.Text.Unicode.Utf8.IsValid(Csv);

    [Benchmark]
    public int CsvFields()
    {
        var reader = new CsvReader(((CsvFormat)_csv).Layout, Csv);
        var fields = 0;
        while (reader.Read())
            fields += reader.Count;
        return fields;
    }

    [Benchmark]
    public int CsvToJson() => ToJson(_csv, Csv);

    [Benchmark]
    public int FlatToJson() => ToJson(_flat, Flat);

    [Benchmark]
    public int OptionalToJson() => ToJson(_choices, Optional);

    private int ToJson(IMessageFormat format, byte[] text)
    {
        _json.ResetWrittenCount();
        using var writer = new Utf8JsonWriter(_json, FormatJson.Options);
        format.Read(text, writer);
        writer.Flush();
        return _json.WrittenCount;
    }
}
