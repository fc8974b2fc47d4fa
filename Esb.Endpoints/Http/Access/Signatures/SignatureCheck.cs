using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Parties;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Access.Signatures;

/// <summary>Identifies callers by a signature over the time and the body of their request. Thread-safe.</summary>
internal sealed class SignatureCheck(SignatureConfig config, IEnumerable<(Party Party, byte[] Key)> keys, TimeProvider time)
{
    private readonly (Party Party, byte[] Key)[] _keys = [.. keys];
    private readonly string _before = config.Content[..^SignatureConfig.Body.Length];

    /// <summary>Reads the signature from the head of a request.</summary>
    /// <returns><see cref="Denial.None"/> if the body should be read.</returns>
    public Denial Read(HttpRequest request, out SignedHead head)
    {
        head = default;
        var (signatures, times) = (request.Headers[config.Header], request.Headers[config.TimestampHeader]);
        if (signatures.Count == 0 || times.Count == 0)
            return Denial.Missing;
        if (signatures is not [{ } signature] || times is not [{ } timestamp] || Decode(signature) is not { } bytes)
            return Denial.Malformed;
        if (!long.TryParse(timestamp, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds))
            return Denial.Malformed;
        head = new SignedHead(timestamp, bytes);
        return Math.Abs((decimal)seconds - time.GetUtcNow().ToUnixTimeSeconds()) <= (decimal)config.Tolerance.TotalSeconds
            ? Denial.None
            : Denial.Replayed;
    }

    /// <summary>Finds the party whose key signed the request.</summary>
    public Verdict Verify(SignedHead head, ReadOnlySpan<byte> body)
    {
        var before = Encoding.UTF8.GetBytes(_before.Replace(SignatureConfig.Timestamp, head.Timestamp, StringComparison.Ordinal));
        Span<byte> expected = stackalloc byte[HMACSHA256.HashSizeInBytes];
        Party? signer = null;
        foreach (var (party, key) in _keys)
        {
            using var hash = IncrementalHash.CreateHMAC(HashAlgorithmName.SHA256, key);
            hash.AppendData(before);
            hash.AppendData(body);
            hash.GetHashAndReset(expected);
            if (CryptographicOperations.FixedTimeEquals(expected, head.Signature))
                signer = party;
        }

        return signer is null ? Verdict.Refused(Denial.WrongSignature) : Verdict.Of(signer);
    }

    private byte[]? Decode(string signature)
    {
        if (!signature.StartsWith(config.Prefix, StringComparison.Ordinal))
            return null;
        var text = signature.AsSpan(config.Prefix.Length);
        var bytes = new byte[HMACSHA256.HashSizeInBytes];
        var isWhole =
            config.Encoding == SignatureEncoding.Hex
                ? text.Length == 2 * bytes.Length && Convert.FromHexString(text, bytes, out _, out _) == System.Buffers.OperationStatus.Done
                : Convert.TryFromBase64Chars(text, bytes, out var written) && written == bytes.Length;
        return isWhole ? bytes : null;
    }
}

/// <summary>The signature data in the head of a request.</summary>
internal readonly record struct SignedHead(string Timestamp, byte[] Signature);
