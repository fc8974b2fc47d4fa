using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Esb.Topics.Farm;

/// <summary>The bytes that a signature covers: parts with their lengths, so that no two lists of parts give the same bytes. Not
/// thread-safe.</summary>
internal sealed class SignedContent
{
    private readonly ArrayBufferWriter<byte> _bytes = new(512);

    public ReadOnlySpan<byte> Bytes => _bytes.WrittenSpan;

    public SignedContent Add(string? text)
    {
        if (text is null)
            return Length(-1);
        Length(Encoding.UTF8.GetByteCount(text));
        Encoding.UTF8.GetBytes(text, _bytes);
        return this;
    }

    public SignedContent Add(long number)
    {
        BinaryPrimitives.WriteInt64BigEndian(_bytes.GetSpan(sizeof(long)), number);
        _bytes.Advance(sizeof(long));
        return this;
    }

    public SignedContent Add(ReadOnlySpan<byte> bytes)
    {
        Length(bytes.Length);
        _bytes.Write(bytes);
        return this;
    }

    private SignedContent Length(int length)
    {
        BinaryPrimitives.WriteInt32BigEndian(_bytes.GetSpan(sizeof(int)), length);
        _bytes.Advance(sizeof(int));
        return this;
    }
}
