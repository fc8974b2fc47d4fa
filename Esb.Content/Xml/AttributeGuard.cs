using System.Buffers;

namespace Esb.Content.Xml;

/// <summary>Finds an element with too many attributes before the parser does, whose time for one element grows with their square (a million
/// take seconds).</summary>
/// <remarks>Looks at the bytes as the parser takes them, and at none that it never reaches. Documents in UTF-16 and UTF-32 are left to the
/// reader's own count.</remarks>
internal sealed class AttributeGuard
{
    private const int LongestMark = 9; // <![CDATA[

    private static readonly SearchValues<byte> Marks = SearchValues.Create("=>'\""u8);
    private static readonly byte[] Comment = "-->"u8.ToArray();
    private static readonly byte[] CharacterData = "]]>"u8.ToArray();
    private static readonly byte[] Instruction = "?>"u8.ToArray();
    private static readonly byte[] SingleQuote = "'"u8.ToArray();
    private static readonly byte[] DoubleQuote = "\""u8.ToArray();

    private readonly ReadOnlyMemory<byte> _document;
    private readonly int _limit;
    private bool? _isWide;
    private byte[] _rest = [];
    private int _counted; // up to here the equals signs are counted
    private int _possible; // equals signs that may belong to one element
    private int _position; // up to here it is known what they are
    private byte[]? _end; // of the comment, section, instruction or quoted value at the position
    private bool _isInTag;
    private int _attributes; // of that tag

    public AttributeGuard(ReadOnlyMemory<byte> document, int limit)
    {
        (_document, _limit) = (document, limit);
        _isWide = IsWide(document.Span);
    }

    /// <summary>A guard of a stream.</summary>
    public AttributeGuard(int limit) => _limit = limit;

    /// <summary>Whether an element has more attributes than the limit, as far as the parser sees once it has read up to a position. Nearly
    /// always, one count of the bytes says that none can have.</summary>
    public bool Exceeds(int end)
    {
        if (_isWide == true)
            return false;
        var bytes = _document.Span[..end];
        _possible += bytes[_counted..].Count((byte)'=');
        _counted = end;
        if (_possible <= _limit)
            return false;
        while (_position < end && _attributes <= _limit && Advance(bytes, end == _document.Length)) { }

        _possible = _attributes;
        return _attributes > _limit;
    }

    /// <summary>As the other, for the next piece of a stream, of which nothing else is in memory.</summary>
    public bool Exceeds(ReadOnlySpan<byte> piece)
    {
        if (_isWide ??= IsWide(piece))
            return false;
        var bytes = _rest.Length == 0 ? piece : (ReadOnlySpan<byte>)[.. _rest, .. piece];
        _position = 0;
        while (_position < bytes.Length && _attributes <= _limit && Advance(bytes, isWhole: false)) { }

        _rest = bytes[_position..].ToArray(); // at most half of a mark
        return _attributes > _limit;
    }

    private static bool IsWide(ReadOnlySpan<byte> document) => document[..Math.Min(4, document.Length)].Contains((byte)0);

    // Whether it got on: what stands at the end of the bytes may be half of a mark.
    private bool Advance(ReadOnlySpan<byte> bytes, bool isWhole)
    {
        var rest = bytes[_position..];
        if (_end is not null)
            return Leave(rest);
        return _isInTag ? FollowTag(rest) : FindTag(rest, isWhole);
    }

    private bool Leave(ReadOnlySpan<byte> rest)
    {
        var found = rest.IndexOf(_end);
        if (found < 0)
        {
            _position += Math.Max(0, rest.Length - _end!.Length + 1);
            return false;
        }

        _position += found + _end!.Length;
        _end = null;
        return true;
    }

    private bool FindTag(ReadOnlySpan<byte> rest, bool isWhole)
    {
        var start = rest.IndexOf((byte)'<');
        _position += start < 0 ? rest.Length : start;
        if (start < 0)
            return false;
        rest = rest[start..];
        if (rest.Length < LongestMark && !isWhole)
            return false;
        _position++;
        if (rest.StartsWith("<!--"u8))
            _end = Comment;
        else if (rest.StartsWith("<![CDATA["u8))
            _end = CharacterData;
        else if (rest.StartsWith("<?"u8))
            _end = Instruction;
        else
            (_isInTag, _attributes) = (true, 0);
        return true;
    }

    private bool FollowTag(ReadOnlySpan<byte> rest)
    {
        var mark = rest.IndexOfAny(Marks);
        _position += mark < 0 ? rest.Length : mark + 1;
        if (mark < 0)
            return false;
        switch (rest[mark])
        {
            case (byte)'=':
                _attributes++;
                break;
            case (byte)'>':
                (_isInTag, _attributes) = (false, 0);
                break;
            case var quote:
                _end = quote == '\'' ? SingleQuote : DoubleQuote;
                break;
        }

        return true;
    }
}
