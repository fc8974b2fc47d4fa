using System.Buffers;

namespace Esb.Endpoints.Http.Outside;

/// <summary>An array for consecutive exchanges: the first one is kept, larger ones are rented as long as an exchange needs them.</summary>
/// <remarks>A hundred concurrent exchanges need more arrays than the platform's pool keeps (32 of a size per core), and the pool would
/// allocate all the time.</remarks>
internal sealed class GrowingArray
{
    /// <summary>Enough for a head, and for most bodies.</summary>
    public const int FirstBytes = 16 * 1024;

    private readonly byte[] _first = GC.AllocateUninitializedArray<byte>(FirstBytes);

    public GrowingArray() => Bytes = _first;

    public byte[] Bytes { get; private set; }

    /// <param name="bytes">The minimum size.</param>
    /// <param name="kept">The number of held bytes to preserve.</param>
    public void Grow(int bytes, int kept)
    {
        var larger = ArrayPool<byte>.Shared.Rent(bytes);
        Bytes.AsSpan(0, kept).CopyTo(larger);
        Release();
        Bytes = larger;
    }

    public void Release()
    {
        if (Bytes != _first)
            ArrayPool<byte>.Shared.Return(Bytes);
        Bytes = _first;
    }
}
