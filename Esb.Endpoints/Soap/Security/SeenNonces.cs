using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Esb.Endpoints.Soap.Security;

/// <summary>Remembers the nonces of accepted tokens, so that none is accepted twice within their time. Thread-safe.</summary>
/// <remarks>Two generations: the older one is forgotten when the younger one is as old as a token may be. Only tokens with a right password
/// get here, so strangers cannot fill it.</remarks>
/// <param name="window">The time for which a token may be used, both ways.</param>
/// <param name="time">The clock.</param>
internal sealed class SeenNonces(TimeSpan window, TimeProvider time)
{
    private readonly Lock _gate = new();
    private HashSet<UInt128> _young = [];
    private HashSet<UInt128> _old = [];
    private long _begun = time.GetTimestamp();

    /// <summary>Remembers a nonce; false if it was seen before.</summary>
    public bool TryAdd(string user, ReadOnlySpan<byte> nonce, string created)
    {
        var key = KeyOf(user, nonce, created);
        lock (_gate)
        {
            Age();
            return !_old.Contains(key) && _young.Add(key);
        }
    }

    private void Age()
    {
        var age = time.GetElapsedTime(_begun);
        if (age < window)
            return;
        _old = age < 2 * window ? _young : [];
        _young = [];
        _begun = time.GetTimestamp();
    }

    private static UInt128 KeyOf(string user, ReadOnlySpan<byte> nonce, string created)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        hash.AppendData(Encoding.UTF8.GetBytes($"{user}\n{created}\n"));
        hash.AppendData(nonce);
        return BinaryPrimitives.ReadUInt128BigEndian(hash.GetHashAndReset());
    }
}
