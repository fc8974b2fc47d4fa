namespace Esb.Content.Json.Scanning;

/// <summary>One step of a JSONPath as a forward pass can follow it: to the members or elements of a value. Immutable; equal steps are
/// equal.</summary>
/// <param name="Kind">What it selects.</param>
/// <param name="Name">The name of a member.</param>
/// <param name="Index">The position of an element, from 0.</param>
internal sealed record JsonStep(JsonStepKind Kind, string Name = "", long Index = 0)
{
    public bool TakesElement(long index) => Kind == JsonStepKind.Any || (Kind == JsonStepKind.Element && Index == index);
}

internal enum JsonStepKind
{
    Member,
    Element,
    Any,
}
