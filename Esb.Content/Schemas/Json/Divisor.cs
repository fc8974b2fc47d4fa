using System.Globalization;
using System.Numerics;
using System.Text;

namespace Esb.Content.Schemas.Json;

/// <summary>The number of <c>multipleOf</c>; exact, also for decimals and very large numbers. Immutable.</summary>
internal sealed class Divisor
{
    private const ulong Small = 1_000_000_000_000_000_000; // ten times it still fits
    private const int Chunk = 18; // digits that fit a long

    private readonly BigInteger _digits;
    private readonly long _exponent;

    /// <param name="number">A number above 0, as JSON writes it.</param>
    public Divisor(string number)
    {
        Text = number;
        var value = new DecimalText(Encoding.ASCII.GetBytes(number));
        _digits = BigInteger.Parse(
            Encoding.ASCII.GetString(value.Whole) + Encoding.ASCII.GetString(value.Fraction),
            CultureInfo.InvariantCulture
        );
        _exponent = value.Magnitude - value.Count;
    }

    /// <summary>As the schema writes it.</summary>
    public string Text { get; }

    public bool Divides(DecimalText value)
    {
        if (value.Sign == 0)
            return true;
        var zeros = value.Magnitude - value.Count - _exponent;
        if (zeros < 0)
            return false; // the last digit is not 0, and one beyond it would have to be
        if (_digits.IsOne)
            return true;
        var rest = _digits < Small ? Rest(value, (ulong)_digits) : Rest(value, _digits);
        return (rest * BigInteger.ModPow(10, zeros, _digits) % _digits).IsZero;
    }

    private static BigInteger Rest(DecimalText value, ulong divisor)
    {
        var rest = 0UL;
        foreach (var digit in value.Whole)
            rest = ((rest * 10) + digit - '0') % divisor;
        foreach (var digit in value.Fraction)
            rest = ((rest * 10) + digit - '0') % divisor;
        return rest;
    }

    private static BigInteger Rest(DecimalText value, BigInteger divisor) =>
        Rest(value.Fraction, Rest(value.Whole, BigInteger.Zero, divisor), divisor);

    private static BigInteger Rest(ReadOnlySpan<byte> digits, BigInteger rest, BigInteger divisor)
    {
        while (!digits.IsEmpty)
        {
            var length = Math.Min(Chunk, digits.Length);
            rest = ((rest * BigInteger.Pow(10, length)) + long.Parse(digits[..length], CultureInfo.InvariantCulture)) % divisor;
            digits = digits[length..];
        }

        return rest;
    }
}
