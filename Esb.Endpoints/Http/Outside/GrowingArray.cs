using System.Buffers;

namespace Esb.Endpoints.Http.Outside;

/// <summary>An array for one exchange after the other: its first is kept, larger ones are rented for as long as one exchange needs them.</summary>
/// <remarks>A hundred exchanges at once need more arrays than the pool of the platform keeps (32 of a size for each core), which then makes new ones all the time.</remarks>
internal sealed class GrowingArray
{
    /// <summary>Enough for a head, and for most bodies.</summary>
    public const int FirstBytes = 16 * 1024;

    private readonly byte[] _first = GC.AllocateUninitializedArray<byte>(FirstBytes);

    public GrowingArray() => Bytes = _first;

    public byte[] Bytes { get; private set; }

    /// <param name="bytes">How long it must be at least.</param>
    /// <param name="kept">How much of what it holds stays.</param>
    public void Grow(int bytes, int kept)
    {
        var larger = ArrayPool<byte>.Shared.Rent(bytes);
        Bytes.AsSpan(0, kept).CopyTo(larger);
        Release();
        Bytes = larger;
    }

    public void Release()
    {
        if (Bytes != _first) ArrayPool<byte>.Shared.Return(Bytes);
        Bytes = _first;
    }
}
