using System.Xml;

namespace Esb.Content.Xml;

/// <summary>Counts the namespace declarations in scope: many of them cost every element below, in maps and in the framework's
/// trees.</summary>
internal sealed class NamespaceCount
{
    private readonly int _limit;
    private readonly Stack<(int Depth, int Count)> _open = [];

    private NamespaceCount(int limit) => _limit = limit;

    /// <summary>A count; null where the bytes show that no element of the document can have so many.</summary>
    public static NamespaceCount? For(ReadOnlySpan<byte> document, bool isComplete, int limit)
    {
        var isWide = document[..Math.Min(4, document.Length)].Contains((byte)0);
        return isComplete && !isWide && document.Count("xmlns"u8) <= limit ? null : new NamespaceCount(limit);
    }

    /// <summary>True if too many are in scope at the element at which the reader stands.</summary>
    public bool Exceeds(XmlReader reader)
    {
        while (_open.TryPeek(out var closed) && closed.Depth >= reader.Depth)
            _open.Pop();
        var declared = DeclaredAt(reader);
        if (declared == 0)
            return false;
        var count = (_open.TryPeek(out var outer) ? outer.Count : 0) + declared;
        _open.Push((reader.Depth, count));
        return count > _limit;
    }

    private static int DeclaredAt(XmlReader reader)
    {
        if (!reader.MoveToFirstAttribute())
            return 0;
        var declared = 0;
        do
        {
            if (reader.NamespaceURI == "http://www.w3.org/2000/xmlns/")
                declared++;
        } while (reader.MoveToNextAttribute());
        reader.MoveToElement();
        return declared;
    }
}
