using System.Buffers.Binary;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Esb.Storage.Evidence;

/// <summary>The head of a chain. A chain holds the facts that one writer, a run of a host, records for one day: dropping a day drops whole
/// chains.</summary>
/// <param name="Number">The number of the last fact; 0 before the first.</param>
/// <param name="Link">SHA-256 over the previous link, the number and the digest of that fact.</param>
internal sealed record ChainHead(long Number, byte[] Link)
{
    /// <summary>The head before the first fact: a chain cannot be passed off as another chain, or as a chain of another day.</summary>
    public static ChainHead Start(Guid chain, DateOnly day) =>
        new(
            0,
            SHA256.HashData(
                Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"esb audit chain {chain:D} {day:yyyy-MM-dd}"))
            )
        );

    public ChainHead Next(ReadOnlySpan<byte> digest)
    {
        Span<byte> input = stackalloc byte[SHA256.HashSizeInBytes + sizeof(long) + SHA256.HashSizeInBytes];
        Link.CopyTo(input);
        BinaryPrimitives.WriteInt64BigEndian(input[SHA256.HashSizeInBytes..], Number + 1);
        digest.CopyTo(input[(SHA256.HashSizeInBytes + sizeof(long))..]);
        return new ChainHead(Number + 1, SHA256.HashData(input));
    }
}
