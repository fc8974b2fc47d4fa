using System.Text;

namespace Esb.Endpoints.Http.Listening;

/// <summary>Decodes the header <c>Connection</c> so that the server keeps the names in it. Thread-safe.</summary>
/// <remarks>
/// The server replaces the whole header with one word if it has <c>close</c>, <c>keep-alive</c> or <c>upgrade</c>, but not if it has two of
/// them; and the fields that it names must not be forwarded (RFC 9110, section 7.6.1). So <c>keep-alive</c>, which HTTP/1.1 implies, and
/// <c>upgrade</c>, which is never performed here, are removed, and <c>close</c>, which takes precedence, gets <c>keep-alive</c> beside it.
/// Connections of HTTP/1.0 do not stay open, as a proxy must ensure (RFC 9112, section 9.3).
/// </remarks>
internal sealed class ConnectionOptions : Encoding
{
    private static readonly ConnectionOptions Instance = new();
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private ConnectionOptions() { }

    /// <summary>Returns the encoding of a request header; null for the server's default.</summary>
    public static Encoding? Select(string header) => header == "Connection" ? Instance : null;

    public override int GetByteCount(char[] chars, int index, int count) => Strict.GetByteCount(chars, index, count);

    public override int GetBytes(char[] chars, int charIndex, int charCount, byte[] bytes, int byteIndex) =>
        Strict.GetBytes(chars, charIndex, charCount, bytes, byteIndex);

    public override int GetCharCount(byte[] bytes, int index, int count) => Read(bytes.AsSpan(index, count)).Length;

    public override int GetChars(byte[] bytes, int byteIndex, int byteCount, char[] chars, int charIndex)
    {
        var text = Read(bytes.AsSpan(byteIndex, byteCount));
        text.CopyTo(chars.AsSpan(charIndex));
        return text.Length;
    }

    public override int GetMaxByteCount(int charCount) => Strict.GetMaxByteCount(charCount);

    public override int GetMaxCharCount(int byteCount) => Strict.GetMaxCharCount(byteCount) + ", keep-alive".Length;

    private static string Read(ReadOnlySpan<byte> bytes)
    {
        if (Ascii.EqualsIgnoreCase(bytes, "keep-alive"u8))
            return ""; // the usual value of clients that send the header
        var options = Strict.GetString(bytes).Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        var kept = options.Where(option => !Is(option, "keep-alive") && !Is(option, "upgrade"));
        return string.Join(", ", options.Any(option => Is(option, "close")) ? kept.Append("keep-alive") : kept);
    }

    private static bool Is(string option, string name) => option.Equals(name, StringComparison.OrdinalIgnoreCase);
}
