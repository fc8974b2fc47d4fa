namespace Esb.Content.Schemas.Json;

/// <summary>A schema cannot be used.</summary>
/// <param name="faults">What is wrong, at least one fault.</param>
internal sealed class SchemaException(params IReadOnlyList<SchemaFault> faults) : Exception(faults[0].Problem)
{
    public SchemaException(string code, SchemaDocument document, string pointer, string problem)
        : this(new SchemaFault(code, document, pointer, problem)) { }

    public IReadOnlyList<SchemaFault> Faults => faults;
}
