using System.Buffers.Binary;
using System.Text;

namespace Esb.Storage.Files;

/// <summary>Reads what <see cref="FactBuffer"/> wrote.</summary>
internal ref struct FactBytes(ReadOnlySpan<byte> bytes)
{
    private ReadOnlySpan<byte> _rest = bytes;

    public readonly bool IsEmpty => _rest.IsEmpty;

    public byte Byte() => Next(1)[0];

    public Guid Guid() => new(Next(16), bigEndian: true);

    public long Long() => BinaryPrimitives.ReadInt64LittleEndian(Next(8));

    public ulong Small()
    {
        ulong value = 0;
        for (var shift = 0; shift < 64; shift += 7)
        {
            var part = Byte();
            value |= (ulong)(part & 0x7F) << shift;
            if (part < 0x80)
                return value;
        }

        throw Damaged();
    }

    public int Count() => Small() is <= int.MaxValue and var count ? (int)count : throw Damaged();

    public long Near()
    {
        var value = Small();
        return (long)(value >> 1) ^ -(long)(value & 1);
    }

    public string Text() => Encoding.UTF8.GetString(Next(Count()));

    public ReadOnlySpan<byte> Bytes() => Next(Count());

    private ReadOnlySpan<byte> Next(int count)
    {
        if (count > _rest.Length)
            throw Damaged();
        var next = _rest[..count];
        _rest = _rest[count..];
        return next;
    }

    private static InvalidDataException Damaged() => new("The record is damaged, or was written by a later version.");
}
