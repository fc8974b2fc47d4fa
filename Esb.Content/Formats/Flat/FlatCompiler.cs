using System.Globalization;
using System.Text;
using System.Text.Json;
using Esb.Content.Formats.Fields;
using Esb.Core.Configuration;

namespace Esb.Content.Formats.Flat;

/// <summary>Compiles flat formats.</summary>
internal sealed class FlatCompiler
{
    private readonly ConfigErrors _errors;
    private readonly List<FlatRecordConfig> _records = [];
    private readonly List<(string Record, string Field)> _sums = [];

    private FlatCompiler(ConfigErrors errors) => _errors = errors;

    /// <summary>The compiled format; null after an error.</summary>
    public static FlatFormat? Compile(string name, FlatFormatConfig config, long maxItem, ConfigErrors errors)
    {
        var before = errors.All.Count;
        var layout = new FlatCompiler(errors).Compile(name, config);
        return errors.All.Count == before ? new FlatFormat(layout, maxItem) : null;
    }

    private FlatLayout Compile(string name, FlatFormatConfig config)
    {
        if (config.Records.Count == 0)
            _errors.Add("ESB-CFG-VALUE", config, "records", "expected at least one record");
        Collect(config.Records);
        CheckNames();
        CollectSums();
        var root = CompileLevel(config.Records);
        var text = new FormatText(name, FieldCompiler.EncodingOf(config, config.Encoding, _errors));
        if (config.Length is not null && !text.IsUtf8 && !text.IsSingleByte)
            _errors.Add(
                "ESB-CFG-VALUE",
                config,
                "length",
                "records without line ends need utf-8, or an encoding with one byte for each character"
            );
        return new FlatLayout
        {
            Name = name,
            Text = text,
            LineEnd =
                config.Length is not null ? ReadOnlyMemory<byte>.Empty
                : config.LineEnd == LineEnd.Lf ? "\n"u8.ToArray()
                : "\r\n"u8.ToArray(),
            Length = config.Length,
            MaxLine = config.MaxLine.Bytes,
            RefusesEmpty = config.Empty == EmptyText.Refuse,
            Root = root,
            RecordCount = _records.Count,
            SumCount = _sums.Count,
        };
    }

    private void Collect(IReadOnlyList<FlatRecordConfig> records)
    {
        foreach (var record in records)
        {
            _records.Add(record);
            Collect(record.Records);
        }
    }

    private void CheckNames()
    {
        foreach (var record in _records.Where(record => record.Record.Length == 0))
            _errors.Add("ESB-CFG-NAME", record, "name", "a record needs a name");
        foreach (var twin in _records.GroupBy(record => record.Record).Where(group => group.Count() > 1))
            _errors.Add("ESB-CFG-DUPNAME", twin.Last(), "name", "another record has this name");
        foreach (var item in _records.Where(record => record.Item).Skip(1))
            _errors.Add("ESB-CFG-VALUE", item, "item", "only one record of a format can be the item");
    }

    private void CollectSums()
    {
        foreach (var check in _records.SelectMany(record => record.Fields).Select(field => field.Check).OfType<FlatCheckConfig>())
        {
            if (check.Sum?.Split('.') is [var record, var field] && !_sums.Contains((record, field)))
                _sums.Add((record, field));
        }
    }

    private FlatLevel CompileLevel(IReadOnlyList<FlatRecordConfig> records)
    {
        foreach (var untagged in records.Where(record => string.IsNullOrEmpty(record.Tag)).Where(_ => records.Count > 1))
            _errors.Add("ESB-CFG-VALUE", untagged, "tag", "a record beside others needs a tag");
        return new FlatLevel([.. records.Select(CompileRecord)]);
    }

    private FlatRecord CompileRecord(FlatRecordConfig config)
    {
        var (minimum, maximum) = OccursOf(config);
        var tag = Encoding.UTF8.GetBytes(config.Tag ?? "");
        var delimiter = config.Delimiter is null ? (byte?)null : FieldCompiler.Character(config, "delimiter", config.Delimiter, _errors);
        var fields = config.Fields.Select(field => CompileField(config, field)).ToArray();
        foreach (
            var twin in config
                .Fields.Where(field => !field.Filler)
                .Select(field => field.Field)
                .Concat(config.Records.Select(record => record.Record))
                .GroupBy(name => name)
                .Where(group => group.Count() > 1)
        )
            _errors.Add("ESB-CFG-DUPNAME", config, "fields", $"the name '{twin.Key}' stands twice in the record");
        if (tag.Length > 0 && !IsTagPlaced(config, delimiter is null))
            _errors.Add("ESB-CFG-VALUE", config, "tagAt", "expected the beginning of a field, or the end of the last");
        return new FlatRecord
        {
            Name = config.Record,
            Index = _records.IndexOf(config),
            Member = JsonEncodedText.Encode(config.Record, FormatJson.Encoder),
            Tag = tag,
            TagAt = config.TagAt,
            Minimum = minimum,
            Maximum = maximum,
            IsItem = config.Item,
            Delimiter = delimiter,
            Fields = fields,
            Level = CompileLevel(config.Records),
            Width = delimiter is null ? fields.Sum(field => field.Length) + (config.Tag?.Length ?? 0) : 0,
        };
    }

    private FlatField CompileField(FlatRecordConfig record, FlatFieldConfig config)
    {
        if (config.Field.Length == 0 && !config.Filler)
            _errors.Add(
                "ESB-CFG-REQUIRED",
                ConfigNode.Join(config.Path, "name"),
                "is required, unless the field is a filler",
                config.Origin
            );
        if (record.Delimiter is null && config.Length is null)
            _errors.Add(
                "ESB-CFG-REQUIRED",
                ConfigNode.Join(config.Path, "length"),
                "is required in a record without a delimiter",
                config.Origin
            );
        if (record.Delimiter is not null && config.Length is not null)
            _errors.Add("ESB-CFG-VALUE", config, "length", "a record with a delimiter has no lengths");
        if (config.Decimals is not null && config.Type != FieldKind.Decimal)
            _errors.Add("ESB-CFG-VALUE", config, "decimals", "only decimals have a fraction");
        var sum = _sums.IndexOf((record.Record, config.Field));
        if (sum >= 0 && config.Type is not (FieldKind.Integer or FieldKind.Decimal))
            _errors.Add("ESB-CFG-VALUE", config, "type", "only integers and decimals can be added up");
        return new FlatField
        {
            Name = config.Field,
            Member = JsonEncodedText.Encode(config.Field, FormatJson.Encoder),
            Type = FieldCompiler.Compile(config, _errors, config.Decimals),
            Length = config.Length ?? 0,
            IsRight = config.Align == FieldAlignment.Right,
            Pad = FieldCompiler.Character(config, "pad", config.Pad, _errors),
            Trims = config.Trim,
            IsOptional = config.Optional,
            Default = config.Default is null ? null : Encoding.UTF8.GetBytes(config.Default),
            IsFiller = config.Filler,
            Check = config.Check is null ? null : CompileCheck(config, config.Check),
            Sum = sum < 0 ? null : sum,
        };
    }

    private FlatCheck? CompileCheck(FlatFieldConfig field, FlatCheckConfig config)
    {
        if (field.Type is not (FieldKind.Integer or FieldKind.Decimal))
            _errors.Add("ESB-CFG-VALUE", field, "type", "a field with a check is an integer or a decimal");
        if (config.Count is { } counted)
        {
            var index = _records.FindIndex(record => record.Record == counted);
            if (index >= 0)
                return new FlatCheck(counted, null, index);
            _errors.Add("ESB-CFG-REF", config, "count", "there is no such record in the format");
            return null;
        }

        if (config.Sum is null)
            return null; // reported
        if (
            config.Sum.Split('.') is [var record, var name]
            && _records.Any(known => known.Record == record && known.Fields.Any(each => each.Field == name))
        )
            return new FlatCheck(record, name, _sums.IndexOf((record, name)));
        _errors.Add("ESB-CFG-REF", config, "sum", "expected a record and a field of the format, such as \"order.amount\"");
        return null;
    }

    private (int Minimum, int Maximum) OccursOf(FlatRecordConfig config)
    {
        var (least, most) = config.Occurs.Split("..") is [var from, var to] ? (from, to) : (config.Occurs, config.Occurs);
        var isKnown = int.TryParse(least, NumberStyles.None, CultureInfo.InvariantCulture, out var minimum);
        var maximum = int.MaxValue;
        if (most != "*" || least == "*")
            isKnown &= int.TryParse(most, NumberStyles.None, CultureInfo.InvariantCulture, out maximum);
        if (isKnown && maximum >= Math.Max(minimum, 1))
            return (minimum, maximum);
        _errors.Add("ESB-CFG-VALUE", config, "occurs", "expected a number from 1, or a range such as \"0..1\" or \"1..*\"");
        return (0, int.MaxValue);
    }

    // Where a positional field is cut in two by the tag, its content is ambiguous.
    private static bool IsTagPlaced(FlatRecordConfig config, bool isPositional)
    {
        if (!isPositional)
            return config.TagAt <= config.Fields.Count;
        var at = 0;
        foreach (var field in config.Fields)
        {
            if (at >= config.TagAt)
                break;
            at += field.Length ?? 0;
        }

        return at == config.TagAt;
    }
}
