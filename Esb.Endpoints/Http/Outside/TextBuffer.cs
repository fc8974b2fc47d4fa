using System.Buffers;
using System.Text;

namespace Esb.Endpoints.Http.Outside;

/// <summary>Bytes that are put together before they are sent, in a rented array.</summary>
internal sealed class TextBuffer
{
    private const int FirstBytes = 16 * 1024;

    private byte[] _bytes = [];
    private int _count;

    public ReadOnlyMemory<byte> Written => _bytes.AsMemory(0, _count);

    /// <summary>What can be written without getting a larger array.</summary>
    public int Room => _bytes.Length - _count;

    public void Clear() => _count = 0;

    public void Write(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(Reserve(bytes.Length));
        _count += bytes.Length;
    }

    public void Write(ReadOnlySpan<char> text) => _count += Encoding.UTF8.GetBytes(text, Reserve(Encoding.UTF8.GetMaxByteCount(text.Length)));

    public void Write<T>(T value, ReadOnlySpan<char> format = default)
        where T : IUtf8SpanFormattable
    {
        value.TryFormat(Reserve(64), out var written, format, System.Globalization.CultureInfo.InvariantCulture);
        _count += written;
    }

    public void WriteField(string name, string value)
    {
        Write(name);
        Write(": "u8);
        Write(value);
        Write("\r\n"u8);
    }

    public void Release()
    {
        if (_bytes.Length > 0) ArrayPool<byte>.Shared.Return(_bytes);
        (_bytes, _count) = ([], 0);
    }

    private Span<byte> Reserve(int bytes)
    {
        if (Room < bytes) Grow(bytes);
        return _bytes.AsSpan(_count);
    }

    private void Grow(int bytes)
    {
        var larger = ArrayPool<byte>.Shared.Rent(Math.Max(FirstBytes, Math.Max(_bytes.Length * 2, _count + bytes)));
        Written.CopyTo(larger);
        if (_bytes.Length > 0) ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = larger;
    }
}
