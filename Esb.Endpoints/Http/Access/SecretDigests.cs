using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Parties;

namespace Esb.Endpoints.Http.Access;

/// <summary>The digest by which a secret is recognised.</summary>
internal readonly record struct SecretDigest(UInt128 First, UInt128 Second);

/// <summary>Digests secrets under an ephemeral key known only to this process. Thread-safe; allocates nothing.</summary>
/// <remarks>A caller cannot choose a digest, so the duration of a look-up reveals nothing about the stored digests.</remarks>
internal sealed class SecretDigests
{
    /// <summary>The maximum length of a secret, in bytes of UTF-8.</summary>
    public const int MaxBytes = PartyConfig.MaxSecretBytes;

    private readonly byte[] _key = RandomNumberGenerator.GetBytes(32);

    public SecretDigest Of(ReadOnlySpan<byte> secret)
    {
        Span<UInt128> digest = stackalloc UInt128[2];
        HMACSHA256.HashData(_key, secret, MemoryMarshal.AsBytes(digest));
        return new SecretDigest(digest[0], digest[1]);
    }

    /// <summary>Returns the digest of a text; a text that is too long gets a digest that no secret has.</summary>
    public SecretDigest Of(ReadOnlySpan<char> secret)
    {
        Span<byte> bytes = stackalloc byte[MaxBytes];
        return Encoding.UTF8.TryGetBytes(secret, bytes, out var written) ? Of(bytes[..written]) : default;
    }

    /// <summary>Compares two digests in constant time.</summary>
    public static bool AreEqual(SecretDigest one, SecretDigest other) =>
        CryptographicOperations.FixedTimeEquals(
            MemoryMarshal.AsBytes(new ReadOnlySpan<SecretDigest>(in one)),
            MemoryMarshal.AsBytes(new ReadOnlySpan<SecretDigest>(in other))
        );
}
