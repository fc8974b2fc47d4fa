using System.Collections;
using System.Diagnostics.CodeAnalysis;

namespace Esb.Core.Messages;

/// <summary>The headers of a message: case-insensitive names, with one text value each. Immutable: a change copies the headers, never the
/// body.</summary>
public sealed class MessageHeaders : IReadOnlyCollection<KeyValuePair<string, string>>
{
    /// <summary>No headers.</summary>
    public static readonly MessageHeaders Empty = new([]);

    // For a few headers, a linear search is faster than hashing, and the array is copied at once.
    private readonly KeyValuePair<string, string>[] _headers;

    private MessageHeaders(KeyValuePair<string, string>[] headers) => _headers = headers;

    /// <inheritdoc/>
    public int Count => _headers.Length;

    /// <summary>The value of a header, or null.</summary>
    public string? this[string name] => TryGet(name, out var value) ? value : null;

    /// <summary>Creates headers from pairs; values of a repeated name are joined by a comma, as in HTTP.</summary>
    public static MessageHeaders From(IEnumerable<KeyValuePair<string, string>> headers)
    {
        KeyValuePair<string, string>[] all = [.. headers];
        var count = 0; // of different names so far, which are in front
        foreach (var (name, value) in all)
        {
            var index = IndexOf(all.AsSpan(0, count), name);
            if (index < 0)
                all[count++] = new(name, value);
            else
                all[index] = new(all[index].Key, $"{all[index].Value}, {value}");
        }

        return count == 0 ? Empty : new MessageHeaders(count == all.Length ? all : all[..count]);
    }

    /// <summary>Finds a header.</summary>
    public bool TryGet(string name, [MaybeNullWhen(false)] out string value)
    {
        var index = IndexOf(name);
        value = index < 0 ? null : _headers[index].Value;
        return index >= 0;
    }

    /// <summary>These headers with one added or replaced.</summary>
    public MessageHeaders With(string name, string value)
    {
        var index = IndexOf(name);
        if (index < 0)
            return new MessageHeaders([.. _headers, new(name, value)]);
        var copy = (KeyValuePair<string, string>[])_headers.Clone();
        copy[index] = new(name, value);
        return new MessageHeaders(copy);
    }

    /// <summary>These headers without one.</summary>
    public MessageHeaders Without(string name)
    {
        var index = IndexOf(name);
        if (index < 0)
            return this;
        return Count == 1 ? Empty : new MessageHeaders([.. _headers.AsSpan(0, index), .. _headers.AsSpan(index + 1)]);
    }

    /// <summary>These headers, before those of others whose names are not among them.</summary>
    public MessageHeaders Over(MessageHeaders others)
    {
        if (Count == 0 || others.Count == 0)
            return Count == 0 ? others : this;
        return new MessageHeaders([.. _headers, .. others._headers.Where(header => IndexOf(header.Key) < 0)]);
    }

    /// <summary>Enumerates without an allocation.</summary>
    public ReadOnlySpan<KeyValuePair<string, string>>.Enumerator GetEnumerator() =>
        new ReadOnlySpan<KeyValuePair<string, string>>(_headers).GetEnumerator();

    IEnumerator<KeyValuePair<string, string>> IEnumerable<KeyValuePair<string, string>>.GetEnumerator() =>
        _headers.AsEnumerable().GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => _headers.GetEnumerator();

    private int IndexOf(string name) => IndexOf(_headers, name);

    private static int IndexOf(ReadOnlySpan<KeyValuePair<string, string>> headers, string name)
    {
        for (var i = 0; i < headers.Length; i++)
        {
            if (IsNamed(headers[i], name))
                return i;
        }

        return -1;
    }

    private static bool IsNamed(KeyValuePair<string, string> header, string name) =>
        string.Equals(header.Key, name, StringComparison.OrdinalIgnoreCase);
}
