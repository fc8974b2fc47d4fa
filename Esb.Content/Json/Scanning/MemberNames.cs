using System.Text.Json;
using Esb.Core.Errors;

namespace Esb.Content.Json.Scanning;

/// <summary>The names of the objects that are open. None may come twice: whoever reads the document next might take the other one.</summary>
internal sealed class MemberNames(ReadOnlyMemory<byte> document)
{
    private const int FewNames = 16; // so many are compared one by one

    private readonly List<ReadOnlyMemory<byte>> _names = []; // of all open objects, outermost first
    private readonly Stack<(int Start, HashSet<ReadOnlyMemory<byte>>? Many)> _outer = new();
    private HashSet<ReadOnlyMemory<byte>>? _many; // those of the innermost, once they are many
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
    /// <returns>Whether it is the first of this name in its object.</returns>
    /// <exception cref="EsbException"><c>ESB-JSON-LIMIT</c>: it is too long, or one too many.</exception>
    public bool TryAdd(ref Utf8JsonReader reader, int offset)
    {
        var length = reader.ValueSpan.Length;
        if (length > JsonInput.MaxNameBytes) throw JsonFaults.TooLarge($"a name is longer than {JsonInput.MaxNameBytes} bytes", document.Span, offset);
        if (_names.Count - _start >= JsonInput.MaxMembers) throw JsonFaults.TooLarge($"an object has more than {JsonInput.MaxMembers} members", document.Span, offset);
        var name = reader.ValueIsEscaped ? Unescape(ref reader) : document.Slice(offset + 1, length);
        if (!IsNew(name)) return false;
        _names.Add(name);
        return true;
    }

    private bool IsNew(ReadOnlyMemory<byte> name)
    {
        if (_many is null && _names.Count - _start < FewNames)
        {
            for (var i = _start; i < _names.Count; i++)
            {
                if (_names[i].Span.SequenceEqual(name.Span)) return false;
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

        // Seeded anew in every process, so that nobody can send names that collide.
        public int GetHashCode(ReadOnlyMemory<byte> name)
        {
            var hash = default(HashCode);
            hash.AddBytes(name.Span);
            return hash.ToHashCode();
        }
    }
}
