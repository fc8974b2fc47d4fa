using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Parties;

namespace Esb.Endpoints.Http.Access;

/// <summary>In the place of a secret, what it is recognised by.</summary>
internal readonly record struct SecretDigest(UInt128 First, UInt128 Second);

/// <summary>Digests secrets under a key that this process alone has, and forgets. Thread-safe; allocates nothing.</summary>
/// <remarks>Nobody outside can choose a digest, so looking one up tells nothing about those it was compared with, whatever the time it takes.</remarks>
internal sealed class SecretDigests
{
    /// <summary>The longest secret that is looked at, in bytes of UTF-8.</summary>
    public const int MaxBytes = PartyConfig.MaxSecretBytes;

    private readonly byte[] _key = RandomNumberGenerator.GetBytes(32);

    public SecretDigest Of(ReadOnlySpan<byte> secret)
    {
        Span<UInt128> digest = stackalloc UInt128[2];
        HMACSHA256.HashData(_key, secret, MemoryMarshal.AsBytes(digest));
        return new SecretDigest(digest[0], digest[1]);
    }

    /// <summary>The digest of a text; that of no secret at all where it is longer than any.</summary>
    public SecretDigest Of(ReadOnlySpan<char> secret)
    {
        Span<byte> bytes = stackalloc byte[MaxBytes];
        return Encoding.UTF8.TryGetBytes(secret, bytes, out var written) ? Of(bytes[..written]) : default;
    }

    /// <summary>Compares in a time that does not tell where two digests differ.</summary>
    public static bool AreEqual(SecretDigest one, SecretDigest other) =>
        CryptographicOperations.FixedTimeEquals(MemoryMarshal.AsBytes(new ReadOnlySpan<SecretDigest>(in one)), MemoryMarshal.AsBytes(new ReadOnlySpan<SecretDigest>(in other)));
}
