using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>Which members or items of a value a schema has evaluated, for <c>unevaluatedProperties</c> and
/// <c>unevaluatedItems</c>.</summary>
internal sealed class Coverage
{
    private readonly bool[] _isSeen;

    private Coverage(int count) => _isSeen = new bool[count];

    /// <summary>Null for a value without members and items.</summary>
    public static Coverage? For(JsonElement value) =>
        value.ValueKind switch
        {
            JsonValueKind.Object => new Coverage(value.GetPropertyCount()),
            JsonValueKind.Array => new Coverage(value.GetArrayLength()),
            _ => null,
        };

    public bool Has(int index) => _isSeen[index];

    public void Add(int index) => _isSeen[index] = true;

    public void Add(Coverage other)
    {
        for (var i = 0; i < _isSeen.Length; i++)
            _isSeen[i] |= other._isSeen[i];
    }
}
