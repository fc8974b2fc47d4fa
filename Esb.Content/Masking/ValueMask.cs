using System.Security.Cryptography;
using System.Text;

namespace Esb.Content.Masking;

/// <summary>Makes single values unreadable. Thread-safe.</summary>
/// <param name="key">Of the hash; null where no rule hashes.</param>
internal sealed class ValueMask(byte[]? key)
{
    /// <summary>What stands where nothing of a value is shown.</summary>
    public const string Hidden = "****";

    /// <summary>What a hash begins with.</summary>
    public const string HashPrefix = "hmac-sha256:";

    // Of a shorter value four characters would be more than half.
    private const int ShortestShown = 8;

    /// <summary>What takes the place of a value; null where nothing does.</summary>
    /// <param name="action">What is to be done.</param>
    /// <param name="value">As text; blanks around it do not count.</param>
    /// <param name="isSingle">Whether it is one value; of several in one, the last four characters may be all of the last.</param>
    public string? Apply(MaskAction action, string value, bool isSingle = true) =>
        action switch
        {
            MaskAction.Last4 => isSingle ? Last4(value.AsSpan().Trim()) : Hidden,
            MaskAction.Hash => Hash(value.Trim()),
            _ => null,
        };

    private static string Last4(ReadOnlySpan<char> value)
    {
        if (value.Length < ShortestShown)
            return Hidden;
        var last = value[^4..];
        return string.Concat(Hidden, char.IsLowSurrogate(last[0]) ? last[1..] : last);
    }

    private string Hash(string value) => HashPrefix + Convert.ToHexStringLower(HMACSHA256.HashData(key!, Encoding.UTF8.GetBytes(value)));
}
