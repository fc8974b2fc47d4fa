namespace Esb.Content.Transforms;

/// <summary>What a script changes of a message; the rest stays. Immutable.</summary>
/// <param name="Body">The new body; null if it stays.</param>
/// <param name="Headers">Headers to set; null removes one.</param>
/// <param name="Properties">Properties to set, as values of expressions; null removes one.</param>
public sealed record MessageChanges(
    MappedBody? Body,
    IReadOnlyList<KeyValuePair<string, string?>> Headers,
    IReadOnlyList<KeyValuePair<string, object?>> Properties
);
