using System.Buffers;
using System.Text;
using Esb.Core.Messages;

namespace Esb.Endpoints.Http.Outside;

/// <summary>One line of a head or of trailers.</summary>
internal readonly record struct Field(string Name, string Value);

/// <summary>Header fields as they were received. Reused for each answer of a connection; fields equal to those of the previous answer
/// allocate nothing.</summary>
internal sealed class FieldList
{
    public const int MaxFields = 128;

    private static readonly SearchValues<byte> Controls = SearchValues.Create([
        .. Enumerable.Range(0, 32).Where(c => c != '\t').Append(127).Select(c => (byte)c),
    ]);

    private Field[] _fields = new Field[16];

    public int Count { get; private set; }

    public ReadOnlySpan<Field> All => _fields.AsSpan(0, Count);

    public void Clear() => Count = 0;

    /// <summary>Adds a line <c>name: value</c>, without its line end.</summary>
    /// <exception cref="BadAnswerException">The line is malformed (RFC 9112, section 5).</exception>
    public Field Add(ReadOnlySpan<byte> line)
    {
        var colon = line.IndexOf((byte)':');
        if (colon <= 0)
            throw new BadAnswerException("a line of its head is not a header");
        if (Count == MaxFields)
            throw new BadAnswerException($"it has more than {MaxFields} headers");
        if (Count == _fields.Length)
            Array.Resize(ref _fields, MaxFields);
        var before = _fields[Count];
        return _fields[Count++] = new Field(NameOf(line[..colon], before.Name), ValueOf(line[(colon + 1)..].Trim(" \t"u8), before.Value));
    }

    private static string NameOf(ReadOnlySpan<byte> bytes, string? before)
    {
        if (before is not null && Ascii.Equals(bytes, before))
            return before;
        var name = Encoding.Latin1.GetString(bytes);
        return HeaderRules.IsToken(name) ? name : throw new BadAnswerException("a header has an invalid name");
    }

    private static string ValueOf(ReadOnlySpan<byte> bytes, string? before)
    {
        if (before is not null && Ascii.Equals(bytes, before))
            return before;
        if (bytes.ContainsAny(Controls))
            throw new BadAnswerException("a header has control characters");
        return Encoding.UTF8.GetString(bytes);
    }
}
