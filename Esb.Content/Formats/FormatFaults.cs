using System.Text;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Formats;

/// <summary>Faults of texts with records, in one wording.</summary>
internal static class FormatFaults
{
    private const int LongestValue = 60;

    public static FormatFaultException Columns(string format, int line, int expected, int found) =>
        new("ESB-FLAT-COLUMNS", $"{format}, line {line}: expected {expected} fields, found {found}.", FaultKind.Malformed, line)
        {
            IsOfRecord = true,
        };

    public static FormatFaultException Quote(string format, int line, int column, string problem) =>
        new("ESB-FLAT-QUOTE", $"{format}, line {line}, column {column}: {problem}.", FaultKind.Malformed, line, column);

    public static FormatFaultException TooLong(string format, int line, long limit) =>
        new("ESB-FLAT-LINE", $"{format}, line {line}: the record is longer than {limit} bytes.", FaultKind.TooLarge, line);

    public static FormatFaultException LongItem(string format, int line, long limit) =>
        new("ESB-FLAT-ITEM", $"{format}, line {line}: the item that begins here is longer than {limit} bytes.", FaultKind.TooLarge, line);

    public static FormatFaultException Header(string format, string difference) =>
        new("ESB-FLAT-HEADER", $"{format}, line 1: {difference}.", FaultKind.Invalid, line: 1);

    public static FormatFaultException Width(string format, int line, int expected, int found) =>
        new("ESB-FLAT-WIDTH", $"{format}, line {line}: expected {expected} characters, found {found}.", FaultKind.Malformed, line)
        {
            IsOfRecord = true,
        };

    public static FormatFaultException Record(string format, int line, string problem) =>
        new("ESB-FLAT-RECORD", $"{format}, line {line}: {problem}.", FaultKind.Malformed, line);

    public static FormatFaultException Count(string format, int line, string field, string problem) =>
        new("ESB-FLAT-COUNT", $"{format}, line {line}, field {field}: {problem}.", FaultKind.Invalid, line) { Field = field };

    public static FormatFaultException Empty(string format) =>
        new("ESB-FLAT-EMPTY", $"{format}: the text has no record.", FaultKind.Invalid);

    public static FormatFaultException Value(
        string format,
        int line,
        int column,
        string field,
        ReadOnlySpan<byte> value,
        string expected
    ) =>
        new(
            "ESB-FLAT-FORMAT",
            $"{format}, line {line}, column {column}, field {field}: expected {expected}, found \"{Show(value)}\".",
            FaultKind.Invalid,
            line,
            column
        )
        {
            Field = field,
            IsOfRecord = true,
        };

    /// <summary>A value that cannot be written.</summary>
    public static FormatFaultException Unwritable(string format, int record, string? field, string problem) =>
        new("ESB-FLAT-FORMAT", $"{format}, record {record}{(field is null ? "" : $", field {field}")}: {problem}.", FaultKind.Invalid)
        {
            Field = field,
        };

    /// <summary>The beginning of a value, on one line and without what the audit masks.</summary>
    public static string Show(ReadOnlySpan<byte> value) => SafeText.Of(MaskedFlow.Clean(Encoding.UTF8.GetString(value)), LongestValue);
}
