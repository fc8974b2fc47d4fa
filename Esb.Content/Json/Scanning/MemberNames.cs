using System.Text.Json;
using Esb.Core.Errors;

namespace Esb.Content.Json.Scanning;

/// <summary>The member names of all open objects. Duplicates are refused, because another reader of the document might take the other
/// value.</summary>
internal sealed class MemberNames(ReadOnlyMemory<byte> document)
{
    private const int FewNames = 16; // up to this number, names are compared one by one

    private readonly List<ReadOnlyMemory<byte>> _names = []; // of all open objects, outermost first
    private readonly Stack<(int Start, HashSet<ReadOnlyMemory<byte>>? Many)> _outer = new();
    private HashSet<ReadOnlyMemory<byte>>? _many; // names of the innermost object, once they are many
    private int _start;

    public void Begin()
    {
        _outer.Push((_start, _many));
        (_start, _many) = (_names.Count, null);
    }

    public void End()
    {
        _names.RemoveRange(_start, _names.Count - _start);
        (_start, _many) = _outer.Pop();
    }

    /// <summary>Takes the name at which the reader stands.</summary>
    /// <param name="reader">Stands at the name.</param>
    /// <param name="offset">Where the name's quotation mark stands in the document.</param>
    /// <returns>True if the name is new in its object.</returns>
    /// <exception cref="EsbException"><c>ESB-JSON-LIMIT</c>: it is too long, or one too many.</exception>
    public bool TryAdd(ref Utf8JsonReader reader, int offset)
    {
        var length = reader.ValueSpan.Length;
        if (length > JsonInput.MaxNameBytes)
            throw JsonFaults.TooLarge($"a name is longer than {JsonInput.MaxNameBytes} bytes", document.Span, offset);
        if (_names.Count - _start >= JsonInput.MaxMembers)
            throw JsonFaults.TooLarge($"an object has more than {JsonInput.MaxMembers} members", document.Span, offset);
        var name = reader.ValueIsEscaped ? Unescape(ref reader) : document.Slice(offset + 1, length);
        if (!IsNew(name))
            return false;
        _names.Add(name);
        return true;
    }

    private bool IsNew(ReadOnlyMemory<byte> name)
    {
        if (_many is null && _names.Count - _start < FewNames)
        {
            for (var i = _start; i < _names.Count; i++)
            {
                if (_names[i].Span.SequenceEqual(name.Span))
                    return false;
            }

            return true;
        }

        _many ??= new HashSet<ReadOnlyMemory<byte>>(_names.Skip(_start), NameComparer.Instance);
        return _many.Add(name);
    }

    private static byte[] Unescape(ref Utf8JsonReader reader)
    {
        var name = new byte[reader.ValueSpan.Length];
        return name[..reader.CopyString(name)];
    }

    private sealed class NameComparer : IEqualityComparer<ReadOnlyMemory<byte>>
    {
        public static readonly NameComparer Instance = new();

        public bool Equals(ReadOnlyMemory<byte> x, ReadOnlyMemory<byte> y) => x.Span.SequenceEqual(y.Span);

        // Seeded per process, so that senders cannot construct colliding names.
        public int GetHashCode(ReadOnlyMemory<byte> name)
        {
            var hash = default(HashCode);
            hash.AddBytes(name.Span);
            return hash.ToHashCode();
        }
    }
}
