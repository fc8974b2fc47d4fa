using System.Buffers;
using System.Globalization;
using System.Text.Json;

namespace Esb.Content.Formats.Fields;

/// <summary>Integers and decimals. A decimal keeps its digits, zeros at its end included; signs and zeros that JSON does not allow in front
/// are dropped.</summary>
/// <param name="separator">The decimal separator.</param>
/// <param name="mayHaveFraction">False for integers.</param>
/// <param name="implied">Digits of the fraction that are written without a separator; null if none.</param>
internal sealed class NumberField(byte separator, bool mayHaveFraction, int? implied = null) : FieldType
{
    private const int LongestNumber = 64;

    public override string Expected =>
        (mayHaveFraction, implied) switch
        {
            (false, _) => "an integer",
            (_, null) => $"a decimal such as \"1234{(char)separator}50\", without grouping",
            (_, { } digits) => $"digits, of which the last {digits} are the fraction",
        };

    public override bool TryRead(ReadOnlySpan<byte> text, Utf8JsonWriter json)
    {
        Span<byte> number = stackalloc byte[LongestNumber + 4];
        var length = Normalize(text, number, separator);
        if (length == 0)
            return false;
        json.WriteRawValue(number[..length], skipInputValidation: true);
        return true;
    }

    /// <summary>Reads a text as a number; false if it is not a number, or has more than 28 digits.</summary>
    public bool TryGet(ReadOnlySpan<byte> text, out decimal number)
    {
        Span<byte> plain = stackalloc byte[LongestNumber + 4];
        var length = Normalize(text, plain, separator);
        return decimal.TryParse(
            plain[..length],
            NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint,
            CultureInfo.InvariantCulture,
            out number
        );
    }

    public override bool TryWrite(JsonElement value, IBufferWriter<byte> text)
    {
        var plain = PlainText(value);
        if (value.ValueKind == JsonValueKind.Number && plain.IndexOfAny((byte)'e', (byte)'E') >= 0)
            return TryWriteExponent(value, text);
        return TryWritePlain(plain, text);
    }

    private bool TryWriteExponent(JsonElement value, IBufferWriter<byte> text)
    {
        Span<byte> plain = stackalloc byte[LongestNumber];
        return value.TryGetDecimal(out var number)
            && number.TryFormat(plain, out var length, default, CultureInfo.InvariantCulture)
            && TryWritePlain(plain[..length], text);
    }

    private bool TryWritePlain(ReadOnlySpan<byte> plain, IBufferWriter<byte> text)
    {
        var digits = plain.TrimStart((byte)'-');
        var point = digits.IndexOf((byte)'.');
        var whole = point < 0 ? digits : digits[..point];
        var fraction = point < 0 ? [] : digits[(point + 1)..];
        if (plain.Length > LongestNumber || plain.Length - digits.Length > 1 || whole.IsEmpty || !AreDigits(whole) || !AreDigits(fraction))
            return false;
        if (!mayHaveFraction && point >= 0)
            return false;
        if (plain.Length != digits.Length)
            text.Write("-"u8);
        if (implied is not { } places)
        {
            text.Write(whole);
            if (fraction.IsEmpty)
                return true;
            text.Write([separator]);
            text.Write(fraction);
            return true;
        }

        if (fraction.TrimEnd((byte)'0').Length > places)
            return false;
        if (!whole.SequenceEqual("0"u8))
            text.Write(whole); // padded by the record
        for (var place = 0; place < places; place++)
            text.Write(place < fraction.Length ? fraction.Slice(place, 1) : "0"u8);
        if (places == 0 && whole.SequenceEqual("0"u8))
            text.Write("0"u8);
        return true;
    }

    // As JSON writes it; 0 if it is no number.
    private int Normalize(ReadOnlySpan<byte> text, Span<byte> number, byte point)
    {
        if (text.Length is 0 or > LongestNumber)
            return 0;
        var length = 0;
        if (text[0] is (byte)'-' or (byte)'+')
        {
            if (text[0] == '-')
                number[length++] = (byte)'-';
            text = text[1..];
        }

        ReadOnlySpan<byte> fraction = [];
        if (implied is { } places)
        {
            if (!AreDigits(text) || text.IsEmpty)
                return 0;
            if (text.Length <= places)
                return WriteSmall(text, places, number, length);
            fraction = text[^places..];
            text = text[..^places];
        }
        else if (mayHaveFraction && text.IndexOf(point) is var at and >= 0)
        {
            fraction = text[(at + 1)..];
            text = text[..at];
            if (fraction.IsEmpty || !AreDigits(fraction))
                return 0;
        }

        if (text.IsEmpty || !AreDigits(text))
            return 0;
        text = text.TrimStart((byte)'0');
        if (text.IsEmpty)
            number[length++] = (byte)'0';
        text.CopyTo(number[length..]);
        length += text.Length;
        if (fraction.IsEmpty)
            return length;
        number[length++] = (byte)'.';
        fraction.CopyTo(number[length..]);
        return length + fraction.Length;
    }

    // 5 with two places is 0.05.
    private static int WriteSmall(ReadOnlySpan<byte> digits, int places, Span<byte> number, int length)
    {
        "0."u8.CopyTo(number[length..]);
        number.Slice(length + 2, places - digits.Length).Fill((byte)'0');
        digits.CopyTo(number[(length + 2 + places - digits.Length)..]);
        return length + 2 + places;
    }

    private static bool AreDigits(ReadOnlySpan<byte> text) => !text.ContainsAnyExceptInRange((byte)'0', (byte)'9');
}
