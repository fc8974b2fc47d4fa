using System.Buffers;

namespace Esb.Core.Messages;

/// <summary>Collects the bytes of a body that arrives piece by piece. Memory grows with what has arrived: a length that is announced, and
/// never comes, costs <see cref="FirstBytes"/> at most. Not thread-safe.</summary>
/// <remarks>Only the array that holds the whole body is allocated; what a body of more than <see cref="FirstBytes"/> fills on its way there
/// is rented.</remarks>
public sealed class BodyBuffer : IDisposable
{
    /// <summary>The most bytes taken before the first byte has arrived: 64 KiB.</summary>
    public const int FirstBytes = 64 * 1024;

    private const int FirstUnannounced = 4 * 1024;
    private const int MostRented = 1024 * 1024; // the platform's pool would keep larger arrays for long

    private readonly int? _announced;
    private byte[] _bytes;
    private bool _isRented;
    private int _count;

    /// <param name="announced">The number of bytes announced, from 0; null if none is.</param>
    public BodyBuffer(long? announced)
    {
        _announced = announced < Array.MaxLength ? (int)announced : null;
        (_bytes, _isRented) = Allocate(_announced is { } length ? Math.Min(length + 1, FirstBytes) : FirstUnannounced);
    }

    /// <summary>The number of bytes collected.</summary>
    public int Count => _count;

    /// <summary>Room for the next bytes, never empty; one byte more than announced, for the read that finds the end.</summary>
    public Memory<byte> Room
    {
        get
        {
            if (_count == _bytes.Length)
                Grow(_count + 1);
            return _bytes.AsMemory(_count);
        }
    }

    /// <summary>Counts bytes that were written into <see cref="Room"/>.</summary>
    public void Advance(int count) => _count += count;

    /// <summary>Adds a piece.</summary>
    public void Add(ReadOnlySpan<byte> piece)
    {
        if (piece.Length > _bytes.Length - _count)
            Grow(_count + piece.Length);
        piece.CopyTo(_bytes.AsSpan(_count));
        _count += piece.Length;
    }

    /// <summary>The bytes collected, in an array that nothing else uses. The last call.</summary>
    public ReadOnlyMemory<byte> Complete() => _isRented ? _bytes.AsSpan(0, _count).ToArray() : _bytes.AsMemory(0, _count);

    /// <summary>Returns what is rented.</summary>
    public void Dispose()
    {
        if (_isRented)
            ArrayPool<byte>.Shared.Return(_bytes);
        (_bytes, _isRented) = ([], false);
    }

    // Doubles, up to the announced length.
    private void Grow(int least)
    {
        var doubled = Math.Min(2L * _bytes.Length, Array.MaxLength);
        var wanted = _announced is { } length && length + 1 >= least ? Math.Min(doubled, length + 1) : doubled;
        var (larger, isRented) = Allocate((int)Math.Max(wanted, least));
        _bytes.AsSpan(0, _count).CopyTo(larger);
        if (_isRented)
            ArrayPool<byte>.Shared.Return(_bytes);
        (_bytes, _isRented) = (larger, isRented);
    }

    // The array for the whole body is its own.
    private (byte[] Bytes, bool IsRented) Allocate(int size) =>
        size > MostRented || size == _announced + 1
            ? (GC.AllocateUninitializedArray<byte>(size), false)
            : (ArrayPool<byte>.Shared.Rent(size), true);
}
