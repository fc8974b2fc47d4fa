using System.Buffers.Binary;
using System.Text;

namespace Esb.Storage.Files;

/// <summary>Bytes of a record that is being made. One for each thread, so that making a record allocates nothing.</summary>
internal sealed class FactBuffer
{
    private const int MostKept = 256 * 1024;

    [ThreadStatic]
    private static FactBuffer? _own;

    private byte[] _bytes = new byte[1024];

    public int Length { get; private set; }

    public ReadOnlyMemory<byte> Bytes => _bytes.AsMemory(0, Length);

    public static FactBuffer Take()
    {
        var buffer = _own ?? new FactBuffer();
        _own = null;
        buffer.Length = 0;
        return buffer;
    }

    /// <summary>Gives it back to the thread that took it.</summary>
    public void Return()
    {
        if (_bytes.Length <= MostKept)
            _own = this;
    }

    public void Add(byte value) => Next(1)[0] = value;

    public void Add(Guid value) => value.TryWriteBytes(Next(16), bigEndian: true, out _);

    public void Add(long value) => BinaryPrimitives.WriteInt64LittleEndian(Next(8), value);

    /// <summary>A number that is small mostly: seven bits a byte.</summary>
    public void AddSmall(ulong value)
    {
        for (; value >= 0x80; value >>= 7)
            Add((byte)(value | 0x80));
        Add((byte)value);
    }

    /// <summary>A number that is near to zero mostly.</summary>
    public void AddNear(long value) => AddSmall((ulong)((value << 1) ^ (value >> 63)));

    public void Add(string text)
    {
        var length = Encoding.UTF8.GetByteCount(text);
        AddSmall((ulong)length);
        Encoding.UTF8.GetBytes(text, Next(length));
    }

    public void Add(ReadOnlySpan<byte> bytes)
    {
        AddSmall((ulong)bytes.Length);
        bytes.CopyTo(Next(bytes.Length));
    }

    private Span<byte> Next(int count)
    {
        if (Length + count > _bytes.Length)
            Array.Resize(ref _bytes, Math.Max(Length + count, 2 * _bytes.Length));
        Length += count;
        return _bytes.AsSpan(Length - count, count);
    }
}
