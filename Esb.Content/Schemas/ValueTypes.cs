using Esb.Content.Schemas.Json;

namespace Esb.Content.Schemas;

/// <summary>The types that a schema gives to a value, and to its members and items, named as in JSON. Thread-safe.</summary>
public abstract class ValueTypes
{
    private protected ValueTypes() { }

    /// <summary>The types that the value may have; all where the schema names none.</summary>
    internal abstract JsonTypes Types { get; }

    /// <summary>True if the value is an array wherever it is not null.</summary>
    internal bool IsArray => Types.HasFlag(JsonTypes.Array) && (Types & ~(JsonTypes.Array | JsonTypes.Null)) == 0;

    /// <summary>The items of the array; null if the schema does not describe them.</summary>
    internal abstract ValueTypes? Item { get; }

    /// <summary>A member; null if the schema does not describe it.</summary>
    internal abstract ValueTypes? Member(string name);
}
