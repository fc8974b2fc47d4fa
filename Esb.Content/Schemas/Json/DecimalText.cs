namespace Esb.Content.Schemas.Json;

/// <summary>A JSON number, exact whatever its size: 0.d1d2d3… × 10^Magnitude, without zeros at either end.</summary>
/// <remarks>Every operation takes time in proportion to the digits that are written, however large the exponent is.</remarks>
internal readonly ref struct DecimalText
{
    private const long MaxExponent = 1_000_000_000_000_000; // larger ones compare as equal to each other

    private readonly ReadOnlySpan<byte> _whole;
    private readonly ReadOnlySpan<byte> _fraction;

    /// <param name="number">A number as JSON writes it.</param>
    public DecimalText(ReadOnlySpan<byte> number)
    {
        var isNegative = number[0] == (byte)'-';
        if (isNegative)
            number = number[1..];
        var exponentAt = number.IndexOfAny((byte)'e', (byte)'E');
        var exponent = exponentAt < 0 ? 0 : ExponentOf(number[(exponentAt + 1)..]);
        if (exponentAt >= 0)
            number = number[..exponentAt];
        var point = number.IndexOf((byte)'.');
        _whole = (point < 0 ? number : number[..point]).TrimStart((byte)'0');
        _fraction = point < 0 ? default : number[(point + 1)..].TrimEnd((byte)'0');
        Magnitude = exponent + _whole.Length;
        if (_whole.IsEmpty)
        {
            var significant = _fraction.TrimStart((byte)'0');
            Magnitude -= _fraction.Length - significant.Length;
            _fraction = significant;
        }
        else if (_fraction.IsEmpty)
        {
            _whole = _whole.TrimEnd((byte)'0');
        }

        Count = _whole.Length + _fraction.Length;
        Sign =
            Count == 0 ? 0
            : isNegative ? -1
            : 1;
        if (Count == 0)
            Magnitude = 0;
    }

    /// <summary>-1, 0 or 1.</summary>
    public int Sign { get; }

    public long Magnitude { get; }

    /// <summary>The number of digits between the zeros at both ends.</summary>
    public int Count { get; }

    public bool IsInteger => Magnitude >= Count;

    public ReadOnlySpan<byte> Whole => _whole;

    public ReadOnlySpan<byte> Fraction => _fraction;

    /// <summary>Less than 0, 0 or more than 0, as this number is less than, equal to or greater than the other.</summary>
    public int CompareTo(DecimalText other)
    {
        if (Sign != other.Sign || Sign == 0)
            return Sign.CompareTo(other.Sign);
        var size = Magnitude.CompareTo(other.Magnitude);
        for (var i = 0; size == 0 && i < Math.Max(Count, other.Count); i++)
            size = DigitAt(i).CompareTo(other.DigitAt(i));
        return size * Sign;
    }

    private byte DigitAt(int index) =>
        index < _whole.Length ? _whole[index]
        : index < Count ? _fraction[index - _whole.Length]
        : (byte)'0';

    private static long ExponentOf(ReadOnlySpan<byte> digits)
    {
        var isNegative = digits[0] == (byte)'-';
        var exponent = 0L;
        foreach (var digit in digits[(digits[0] is (byte)'-' or (byte)'+' ? 1 : 0)..])
            exponent = Math.Min((exponent * 10) + (digit - '0'), MaxExponent);
        return isNegative ? -exponent : exponent;
    }
}
