using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>The way from the root of a document to the value that is validated. Used by one thread.</summary>
/// <param name="document">The document; names are taken out of it only when the pointer is asked for.</param>
internal sealed class PointerTrail(ReadOnlyMemory<byte> document)
{
    private Step[] _steps = new Step[8];
    private int _depth;

    /// <summary>Goes into an object or array; one of the next three says where to.</summary>
    public void Push()
    {
        if (_depth == _steps.Length)
            Array.Resize(ref _steps, _depth * 2);
        _depth++;
    }

    public void Pop() => _depth--;

    public void SetIndex(int index) => _steps[_depth - 1] = new Step(null, index, 0);

    public void SetName(string name) => _steps[_depth - 1] = new Step(name, 0, 0);

    /// <summary>A name that stands, with its quotation marks, in the document.</summary>
    public void SetName(int offset, int length) => _steps[_depth - 1] = new Step(null, offset, length);

    /// <summary>The JSON pointer.</summary>
    public override string ToString()
    {
        var pointer = new StringBuilder();
        foreach (var step in _steps.AsSpan(0, _depth))
            pointer.Append('/').Append(JsonPointer.Escape(NameOf(step)));
        return pointer.ToString();
    }

    private string NameOf(Step step)
    {
        if (step.Length == 0)
            return step.Name ?? step.Start.ToString(CultureInfo.InvariantCulture);
        var reader = new Utf8JsonReader(document.Span.Slice(step.Start, step.Length));
        reader.Read();
        return reader.GetString()!;
    }

    /// <summary>A name, the place of a name, or an index.</summary>
    private readonly record struct Step(string? Name, int Start, int Length);
}
