using System.Text;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>The member names that a plan knows. Immutable.</summary>
internal sealed class NameTable
{
    private const int Unescaped = 256; // bytes; a longer name with escapes is unescaped on the heap

    private readonly byte[][] _names;
    private readonly int[] _buckets; // one more than the index of the first name, by hash
    private readonly int[] _next;
    private readonly int _longest;

    public NameTable(IReadOnlyList<string> names)
    {
        Texts = names;
        _names = [.. names.Select(Encoding.UTF8.GetBytes)];
        _longest = _names.Select(name => name.Length).DefaultIfEmpty().Max();
        _buckets = new int[(int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)Math.Max(1, names.Count * 2))];
        _next = new int[names.Count];
        for (var i = 0; i < _names.Length; i++)
        {
            ref var bucket = ref _buckets[HashOf(_names[i]) & (_buckets.Length - 1)];
            (_next[i], bucket) = (bucket, i + 1);
        }
    }

    public IReadOnlyList<string> Texts { get; }

    public int Count => _names.Length;

    /// <summary>The index of the name at which a reader stands; -1 if it is not known.</summary>
    /// <param name="reader">Stands at the name.</param>
    /// <param name="guess">The index that is likely: members usually stand in the order of the schema.</param>
    public int Find(ref Utf8JsonReader reader, int guess)
    {
        if (_names.Length == 0)
            return -1;
        if (!reader.ValueIsEscaped)
            return Find(reader.ValueSpan, guess);
        var length = reader.ValueSpan.Length;
        if (length > (long)_longest * 12)
            return -1; // a character takes 12 bytes at most when it is escaped
        Span<byte> name = length <= Unescaped ? stackalloc byte[Unescaped] : new byte[length];
        return Find(name[..reader.CopyString(name)], guess);
    }

    private int Find(ReadOnlySpan<byte> name, int guess)
    {
        if (guess < _names.Length && name.SequenceEqual(_names[guess]))
            return guess;
        for (var i = _buckets[HashOf(name) & (_buckets.Length - 1)]; i > 0; i = _next[i - 1])
        {
            if (name.SequenceEqual(_names[i - 1]))
                return i - 1;
        }

        return -1;
    }

    // The names are those of the schema, so senders cannot make them collide.
    private static int HashOf(ReadOnlySpan<byte> name) =>
        name.IsEmpty ? 0 : (name.Length * 31) + (name[0] * 17) + (name[^1] * 7) + (name[name.Length / 2] * 257);
}
