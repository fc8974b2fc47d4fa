using System.Text;

namespace Esb.Endpoints.Http.Outside;

/// <summary>A buffer that gathers bytes before they are sent.</summary>
internal sealed class TextBuffer
{
    private readonly GrowingArray _array = new();
    private int _count;

    public ReadOnlyMemory<byte> Written => _array.Bytes.AsMemory(0, _count);

    private int Room => _array.Bytes.Length - _count;

    public void Clear() => _count = 0;

    public void Write(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(Reserve(bytes.Length));
        _count += bytes.Length;
    }

    public void Write(ReadOnlySpan<char> text) =>
        _count += Encoding.UTF8.GetBytes(text, Reserve(Encoding.UTF8.GetMaxByteCount(text.Length)));

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
        _array.Release();
        _count = 0;
    }

    private Span<byte> Reserve(int bytes)
    {
        if (Room < bytes)
            _array.Grow(Math.Max(_array.Bytes.Length * 2, _count + bytes), kept: _count);
        return _array.Bytes.AsSpan(_count);
    }
}
