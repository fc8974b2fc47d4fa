namespace Esb.Topics.RabbitMq;

/// <summary>Limits the nesting of header values in the bytes that the broker sends, before the client parses them.</summary>
/// <remarks>
/// The client (7.2.2, <c>WireFormatting.ReadArray</c> and <c>ReadDictionary</c>) parses arrays and tables recursively. Some 26,000 levels
/// fit into a frame of 128 KiB; they overflow the stack of a pool thread, which ends the process. No frame size bounds that: the broker
/// sends a header frame as the publisher wrote it, even if it is larger than this connection agreed to. This class turns an array or table
/// below <see cref="MaxDepth"/> into a byte array of the same length, which changes one byte, its type. Likewise it cuts a decimal of more
/// than 28 places, which makes the client abandon the connection, to 28.
/// <para>
/// Frames: AMQP 0-9-1, sections 4.2.3 to 4.2.5, with the value types of https://www.rabbitmq.com/amqp-0-9-1-errata. Keeps its position
/// between two reads, wherever they divide a frame. Not thread-safe: one instance per connection.
/// </para>
/// </remarks>
internal sealed class HeaderDepthLimiter
{
    /// <summary>The maximum levels of arrays and tables within the table of headers. The broker's own <c>x-death</c> has three.</summary>
    public const int MaxDepth = 32;

    private const int FrameHeadLength = 7;
    private const byte ContentHeader = 2;
    private const int BeforeFlags = 12; // class, weight, body size
    private const int MaxScale = 28; // of System.Decimal
    private const int UselessScale = MaxScale + 10; // nothing is left of a mantissa of 31 bits

    private readonly byte[] _frameHead = new byte[FrameHeadLength];
    private readonly Container[] _containers = new Container[MaxDepth + 1]; // the table of headers first
    private Expected _expected = Expected.FrameHead;
    private int _depth;
    private long _position;
    private long _frameEnd;
    private long _skip;
    private uint _number;
    private int _digits;
    private int _flags;
    private byte _type;
    private ulong _divisor;
    private ulong _remainder;

    private enum Expected
    {
        FrameHead,
        Flags,
        ContentType,
        ContentEncoding,
        Headers,
        Entry,
        Type,
        Length,
        Scale,
        Mantissa,
    }

    /// <summary>Reads the next bytes, and changes values that nest too deep.</summary>
    /// <exception cref="IOException">The headers violate the specification.</exception>
    public void Pass(Span<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            if (_skip == 0 && _expected == Expected.Entry)
                CloseContainers();
            if (_skip == 0)
            {
                Read(ref bytes[0]);
                Advance(ref bytes, 1);
                continue;
            }

            var passed = (int)Math.Min(_skip, bytes.Length);
            _skip -= passed;
            Advance(ref bytes, passed);
        }
    }

    private void Advance(ref Span<byte> bytes, int count)
    {
        bytes = bytes[count..];
        _position += count;
    }

    private void Read(ref byte value)
    {
        switch (_expected)
        {
            case Expected.FrameHead:
                ReadFrameHead(value);
                break;
            case Expected.Flags:
                ReadFlags(value);
                break;
            case Expected.ContentType:
                (_skip, _expected) = (value, HasContentEncoding ? Expected.ContentEncoding : Expected.Headers);
                break;
            case Expected.ContentEncoding:
                (_skip, _expected) = (value, Expected.Headers);
                break;
            case Expected.Headers:
                if (IsNumberComplete(value, sizeof(uint)))
                    Open(isTable: true);
                break;
            case Expected.Entry when _containers[_depth - 1].IsTable:
                (_skip, _expected) = (value, Expected.Type);
                break;
            case Expected.Entry or Expected.Type:
                ReadType(ref value);
                break;
            case Expected.Length:
                ReadLength(value);
                break;
            case Expected.Scale:
                ReadScale(ref value);
                break;
            case Expected.Mantissa:
                ReadMantissa(ref value);
                break;
        }
    }

    private bool HasContentType => (_flags & 0x8000) != 0;

    private bool HasContentEncoding => (_flags & 0x4000) != 0;

    private bool HasHeaders => (_flags & 0x2000) != 0;

    private void ReadFrameHead(byte value)
    {
        _frameHead[_digits++] = value;
        if (_digits < FrameHeadLength)
            return;
        _digits = 0;
        var afterHead = _position + 1;
        _frameEnd = afterHead + System.Buffers.Binary.BinaryPrimitives.ReadUInt32BigEndian(_frameHead.AsSpan(3));
        if (_frameHead[0] == ContentHeader)
            (_skip, _expected) = (BeforeFlags, Expected.Flags);
        else
            SkipFrame(afterHead);
    }

    private void ReadFlags(byte value)
    {
        if (!IsNumberComplete(value, sizeof(ushort)))
            return;
        _flags = (int)_number;
        if (!HasHeaders)
            SkipFrame(_position + 1);
        else
            _expected =
                HasContentType ? Expected.ContentType
                : HasContentEncoding ? Expected.ContentEncoding
                : Expected.Headers;
    }

    private void ReadType(ref byte value)
    {
        _type = value;
        _expected = Expected.Entry;
        switch ((char)value)
        {
            case 'V':
                break;
            case 't' or 'b' or 'B':
                _skip = 1;
                break;
            case 's' or 'u':
                _skip = 2;
                break;
            case 'I' or 'i' or 'f':
                _skip = 4;
                break;
            case 'l' or 'd' or 'T':
                _skip = 8;
                break;
            case 'D':
                _expected = Expected.Scale;
                break;
            case 'A' or 'F' or 'S' or 'x':
                if (value is (byte)'A' or (byte)'F' && _depth > MaxDepth)
                    TurnIntoBytes(ref value);
                _expected = Expected.Length;
                break;
            default:
                throw Malformed();
        }
    }

    private void TurnIntoBytes(ref byte type)
    {
        _type = type = (byte)'x';
        TopicsTelemetry.CountNested();
    }

    private void ReadLength(byte value)
    {
        if (!IsNumberComplete(value, sizeof(uint)))
            return;
        if ((char)_type is 'A' or 'F')
            Open(isTable: _type == 'F');
        else
            (_skip, _expected) = (EndOfValue() - _position - 1, Expected.Entry);
    }

    private void ReadScale(ref byte value)
    {
        _divisor = 1;
        for (var scale = Math.Min((int)value, UselessScale); scale > MaxScale; scale--)
            _divisor *= 10;
        value = Math.Min(value, (byte)MaxScale);
        (_remainder, _expected) = (0, Expected.Mantissa);
    }

    // Long division, byte by byte; the first bit is the sign.
    private void ReadMantissa(ref byte value)
    {
        var sign = _digits == 0 ? value & 0x80 : 0;
        var dividend = (_remainder << 8) | (uint)(value & ~sign);
        (var quotient, _remainder) = Math.DivRem(dividend, _divisor);
        value = (byte)((byte)quotient | sign);
        _digits = (_digits + 1) % sizeof(uint);
        if (_digits == 0)
            _expected = Expected.Entry;
    }

    private bool IsNumberComplete(byte value, int length)
    {
        _number = (_digits == 0 ? 0 : _number << 8) | value;
        _digits = (_digits + 1) % length;
        return _digits == 0;
    }

    private void Open(bool isTable)
    {
        var end = EndOfValue();
        _containers[_depth++] = new Container(end, isTable);
        _expected = Expected.Entry;
    }

    // Returns the end of a value whose length has just been read; it must lie within the enclosing value.
    private long EndOfValue()
    {
        var end = _position + 1 + _number;
        return end <= (_depth == 0 ? _frameEnd : _containers[_depth - 1].End) ? end : throw Malformed();
    }

    private void CloseContainers()
    {
        while (_depth > 0 && _position >= _containers[_depth - 1].End)
        {
            if (_position > _containers[_depth - 1].End)
                throw Malformed();
            _depth--;
        }

        if (_depth == 0)
            SkipFrame(_position);
    }

    // Includes the end octet: there is always something to skip.
    private void SkipFrame(long from)
    {
        if (from > _frameEnd)
            throw Malformed();
        (_skip, _expected) = (_frameEnd + 1 - from, Expected.FrameHead);
    }

    private static IOException Malformed() => new("The broker sent a message with malformed headers.");

    private readonly record struct Container(long End, bool IsTable);
}
