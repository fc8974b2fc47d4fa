using System.Buffers;
using System.Text;
using System.Text.Unicode;
using Esb.Core.Errors;

namespace Esb.Content.Transforms.Streaming;

/// <summary>Collects text as UTF-8 in a rented array that grows up to a limit; the result is an array of its own. Not
/// thread-safe.</summary>
internal sealed class Utf8Buffer(int capacity, long limit) : IDisposable
{
    private const int BytesPerChar = 3;

    private byte[] _bytes = ArrayPool<byte>.Shared.Rent(capacity);
    private int _length;

    public void Write(ReadOnlySpan<byte> bytes)
    {
        Reserve(bytes.Length);
        bytes.CopyTo(_bytes.AsSpan(_length));
        _length += bytes.Length;
    }

    public void Write(ReadOnlySpan<char> text)
    {
        Reserve(text.Length * BytesPerChar);
        if (Ascii.FromUtf16(text, _bytes.AsSpan(_length), out var count) == OperationStatus.Done)
        {
            _length += count;
            return;
        }

        if (Utf8.FromUtf16(text, _bytes.AsSpan(_length), out _, out var written, replaceInvalidSequences: false) != OperationStatus.Done)
            throw new NotStreamedException();
        _length += written;
    }

    public byte[] ToArray() => _length <= limit ? _bytes.AsSpan(0, _length).ToArray() : throw TooLarge();

    public void Dispose() => ArrayPool<byte>.Shared.Return(_bytes);

    private void Reserve(int count)
    {
        if (_bytes.Length - _length >= count)
            return;
        if (_length > limit)
            throw TooLarge();
        var larger = ArrayPool<byte>.Shared.Rent(Math.Max(_bytes.Length * 2, _length + count));
        _bytes.AsSpan(0, _length).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = larger;
    }

    private EsbException TooLarge() => new("ESB-XSL-OUTPUT", $"The map makes more than {limit} bytes of this message.", FaultKind.Invalid);
}
