using System.Text;
using Esb.Core.Audit;

namespace Esb.Content.Schemas.Json;

/// <summary>Takes what is wrong with a value.</summary>
internal interface IViolationLog
{
    /// <param name="offset">Where the value begins in the document.</param>
    /// <param name="pointer">JSON pointer to the value; only asked for if it is shown.</param>
    /// <param name="keyword">The keyword that is broken.</param>
    /// <param name="problem">One clause that begins with a verb.</param>
    void Add(int offset, Func<string> pointer, string keyword, string problem);
}

/// <summary>Collects where a document breaks its schema; values of the document are never part of it. Used by one thread.</summary>
/// <param name="document">The document.</param>
internal sealed class Violations(ReadOnlyMemory<byte> document) : IViolationLog
{
    public const int Shown = 20;

    private const int LongestText = 300;

    private readonly List<string> _shown = [];

    public int Count { get; private set; }

    /// <summary>True if further violations are only counted.</summary>
    public bool IsFull => _shown.Count == Shown;

    public IReadOnlyList<string> First => _shown;

    public void Add(int offset, Func<string> pointer, string keyword, string problem)
    {
        Count++;
        if (IsFull)
            return;
        var before = document.Span[..offset];
        var column = Encoding.UTF8.GetCharCount(before[(before.LastIndexOf((byte)'\n') + 1)..]) + 1;
        var place = pointer();
        var text = $"{(place.Length == 0 ? "the document" : place)}: {problem} ({keyword})";
        _shown.Add($"line {before.Count((byte)'\n') + 1}, column {column}: {MaskedFlow.Excerpt(text, LongestText)}");
    }
}
