using Esb.Endpoints.Http.Wire;

namespace Esb.Endpoints.Http.Outside;

/// <summary>Status, headers and body framing of an answer (RFC 9112, sections 4 and 6). Reused for each answer of a connection.</summary>
internal sealed class AnswerHead
{
    /// <summary>The maximum size of a head, in bytes.</summary>
    public const int MaxBytes = 32 * 1024;

    private bool _isHttp10;
    private bool _isKeptAlive;
    private bool _closes;

    public int Status { get; private set; }

    public FieldList Fields { get; } = new();

    /// <summary>The declared length of the body; for HEAD, the length of the body that GET would get.</summary>
    public long? ContentLength { get; private set; }

    public bool IsChunked { get; private set; }

    /// <summary>The field <c>Connection</c>, which names hop-by-hop headers.</summary>
    public string? Connection { get; private set; }

    public bool IsInterim => Status is >= 100 and < 200;

    /// <summary>True if the connection may carry another request.</summary>
    public bool KeepsConnection => !_closes && (!_isHttp10 || _isKeptAlive);

    /// <summary>Reads a head.</summary>
    /// <returns>The number of bytes consumed; 0 if the head is incomplete.</returns>
    /// <exception cref="BadAnswerException">The bytes are not a head.</exception>
    public int Read(ReadOnlySpan<byte> bytes)
    {
        var end = bytes.IndexOf("\r\n\r\n"u8);
        if (end < 0)
            return bytes.Length < MaxBytes ? 0 : throw new BadAnswerException($"its head is longer than {MaxBytes} bytes");
        if (end > MaxBytes)
            throw new BadAnswerException($"its head is longer than {MaxBytes} bytes");

        var lines = bytes[..(end + 2)];
        Clear();
        ReadStatus(Next(ref lines));
        while (!lines.IsEmpty)
            ReadField(Next(ref lines));
        if (IsChunked && ContentLength is not null)
            (ContentLength, _closes) = (null, true); // hops may disagree about which one applies
        if (IsChunked && _isHttp10)
            throw new BadAnswerException("chunks in HTTP/1.0");
        return end + 4;
    }

    private static ReadOnlySpan<byte> Next(ref ReadOnlySpan<byte> lines)
    {
        var end = lines.IndexOf("\r\n"u8);
        var line = lines[..end];
        lines = lines[(end + 2)..];
        return line;
    }

    private void Clear()
    {
        Fields.Clear();
        (ContentLength, IsChunked, Connection) = (null, false, null);
        (_isHttp10, _isKeptAlive, _closes) = (false, false, false);
    }

    // HTTP/1.1 200 OK
    private void ReadStatus(ReadOnlySpan<byte> line)
    {
        if (
            line.Length < 12
            || !line.StartsWith("HTTP/1."u8)
            || line[7] is not ((byte)'0' or (byte)'1')
            || line[8] != ' '
            || (line.Length > 12 && line[12] != ' ')
        )
            throw new BadAnswerException("it does not begin with a status");
        var (hundreds, tens, ones) = (line[9] - '0', line[10] - '0', line[11] - '0');
        if (hundreds is < 1 or > 9 || tens is < 0 or > 9 || ones is < 0 or > 9)
            throw new BadAnswerException("its status is not a number");
        Status = (hundreds * 100) + (tens * 10) + ones;
        _isHttp10 = line[7] == '0';
    }

    private void ReadField(ReadOnlySpan<byte> line)
    {
        var (name, value) = Fields.Add(line);
        if (Is(name, "Content-Length"))
            ReadLength(value);
        else if (Is(name, "Transfer-Encoding"))
            ReadCoding(value);
        else if (Is(name, "Connection"))
            ReadConnection(value);
    }

    private void ReadLength(string value)
    {
        if (value.Length is 0 or > 18 || value.AsSpan().ContainsAnyExceptInRange('0', '9'))
            throw new BadAnswerException("its length is not a number");
        var length = long.Parse(value, System.Globalization.CultureInfo.InvariantCulture);
        if (ContentLength is { } other && other != length)
            throw new BadAnswerException("it has two lengths");
        ContentLength = length;
    }

    private void ReadCoding(string value)
    {
        if (IsChunked || !Is(value, "chunked"))
            throw new BadAnswerException("it has a transfer encoding other than chunked");
        IsChunked = true;
    }

    private void ReadConnection(string value)
    {
        Connection = Connection is null ? value : $"{Connection},{value}";
        _closes |= HttpFields.HasOption(value, "close");
        _isKeptAlive |= HttpFields.HasOption(value, "keep-alive");
    }

    private static bool Is(string text, string name) => text.Equals(name, StringComparison.OrdinalIgnoreCase);
}
