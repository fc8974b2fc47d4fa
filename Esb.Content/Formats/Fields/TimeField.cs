using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Esb.Content.Formats.Fields;

/// <summary>Dates and times, in a pattern of .NET and the invariant culture; ISO 8601 in JSON.</summary>
/// <param name="kind">Date, time or date with time.</param>
/// <param name="pattern">The pattern; null for ISO 8601.</param>
internal sealed class TimeField(FieldKind kind, string? pattern) : FieldType
{
    private const int LongestText = 128;
    private const string IsoDate = "yyyy-MM-dd";
    private const string IsoTime = "HH:mm:ss.FFFFFFF";
    private const string IsoDateTime = "yyyy-MM-ddTHH:mm:ss.FFFFFFF";
    private const string IsoOffset = "yyyy-MM-ddTHH:mm:ss.FFFFFFFK";

    // Without an offset, a date with time says nothing of a zone, and none is invented.
    private readonly bool _hasOffset = pattern is not null && WithoutQuotes(pattern).AsSpan().IndexOfAny('z', 'K') >= 0;

    public override string Expected =>
        (pattern, kind) switch
        {
            ({ } written, _) => $"a {NameOf(kind)} as {written}",
            (_, FieldKind.Date) => $"a date as {IsoDate}",
            (_, FieldKind.Time) => "a time as HH:mm:ss",
            _ => "a date with time as yyyy-MM-ddTHH:mm:ss",
        };

    /// <summary>True if the pattern can be written and read back.</summary>
    public bool IsUsable()
    {
        if (pattern is null)
            return true;
        if (pattern.Length == 0)
            return false;
        try
        {
            var sample = new DateTimeOffset(2001, 2, 3, 4, 5, 6, TimeSpan.Zero);
            var written = Format(sample, pattern);
            return written.Length <= LongestText && Parse(written, pattern, _hasOffset) is not null;
        }
        catch (FormatException)
        {
            return false;
        }
    }

    public override bool TryRead(ReadOnlySpan<byte> text, Utf8JsonWriter json)
    {
        if (text.Length > LongestText)
            return false;
        if (pattern is null && kind == FieldKind.Date && IsIsoDate(text))
        {
            json.WriteStringValue(text); // as it is: most of the time of a record went into its date
            return true;
        }

        Span<char> chars = stackalloc char[LongestText];
        var read = chars[..Encoding.UTF8.GetChars(text, chars)];
        var (value, hasOffset) = pattern is null ? ParseIso(read) : (Parse(read, pattern, _hasOffset), _hasOffset);
        if (value is not { } found)
            return false;
        Span<char> iso = stackalloc char[LongestText];
        found.TryFormat(iso, out var length, IsoOf(hasOffset), CultureInfo.InvariantCulture);
        json.WriteStringValue(iso[..length]);
        return true;
    }

    public override bool TryWrite(JsonElement value, IBufferWriter<byte> text)
    {
        if (value.ValueKind != JsonValueKind.String)
            return false;
        var iso = value.GetString()!;
        if (iso.Length > LongestText || ParseIso(iso) is not ({ } found, _))
            return false;
        Encoding.UTF8.GetBytes(pattern is null ? iso : Format(found, pattern), text);
        return true;
    }

    private static bool IsIsoDate(ReadOnlySpan<byte> text)
    {
        if (text.Length != IsoDate.Length || text[4] != '-' || text[7] != '-')
            return false;
        var (year, month, day) = (NumberOf(text[..4]), NumberOf(text[5..7]), NumberOf(text[8..]));
        return year > 0 && month is > 0 and <= 12 && day > 0 && day <= DateTime.DaysInMonth(year, month);
    }

    // -1 where something else than digits is there.
    private static int NumberOf(ReadOnlySpan<byte> digits)
    {
        var number = 0;
        foreach (var digit in digits)
        {
            if (digit is < (byte)'0' or > (byte)'9')
                return -1;
            number = (10 * number) + digit - '0';
        }

        return number;
    }

    private (DateTimeOffset? Value, bool HasOffset) ParseIso(ReadOnlySpan<char> iso)
    {
        if (kind == FieldKind.Date)
            return (Parse(iso, IsoDate, hasOffset: false), false);
        if (kind == FieldKind.Time)
            return (Parse(iso, IsoTime, hasOffset: false), false);
        return Parse(iso, IsoDateTime, hasOffset: false) is { } local ? (local, false) : (Parse(iso, IsoOffset, hasOffset: true), true);
    }

    private DateTimeOffset? Parse(ReadOnlySpan<char> text, string format, bool hasOffset)
    {
        var culture = CultureInfo.InvariantCulture;
        if (kind == FieldKind.Date)
            return DateOnly.TryParseExact(text, format, culture, DateTimeStyles.None, out var date)
                ? new DateTimeOffset(date.ToDateTime(default), TimeSpan.Zero)
                : null;
        if (kind == FieldKind.Time)
            return TimeOnly.TryParseExact(text, format, culture, DateTimeStyles.None, out var time)
                ? new DateTimeOffset(default(DateOnly).ToDateTime(time), TimeSpan.Zero)
                : null;
        if (hasOffset)
            return DateTimeOffset.TryParseExact(text, format, culture, DateTimeStyles.AssumeUniversal, out var moment) ? moment : null;
        return DateTime.TryParseExact(text, format, culture, DateTimeStyles.None, out var local)
            ? new DateTimeOffset(DateTime.SpecifyKind(local, DateTimeKind.Utc))
            : null;
    }

    private string Format(DateTimeOffset value, string format) =>
        kind switch
        {
            FieldKind.Date => DateOnly.FromDateTime(value.DateTime).ToString(format, CultureInfo.InvariantCulture),
            FieldKind.Time => TimeOnly.FromDateTime(value.DateTime).ToString(format, CultureInfo.InvariantCulture),
            _ => value.ToString(format, CultureInfo.InvariantCulture),
        };

    private string IsoOf(bool hasOffset) =>
        kind switch
        {
            FieldKind.Date => IsoDate,
            FieldKind.Time => IsoTime,
            _ => hasOffset ? IsoOffset : IsoDateTime,
        };

    private static string NameOf(FieldKind kind) =>
        kind switch
        {
            FieldKind.Date => "date",
            FieldKind.Time => "time",
            _ => "date with time",
        };

    private static string WithoutQuotes(string pattern)
    {
        var kept = new StringBuilder();
        char? quote = null;
        foreach (var letter in pattern)
        {
            if (quote is null && letter is '\'' or '"')
                quote = letter;
            else if (letter == quote)
                quote = null;
            else if (quote is null)
                kept.Append(letter);
        }

        return kept.ToString();
    }
}
