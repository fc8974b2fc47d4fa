namespace Esb.Content.Schemas.Json;

/// <summary>An error in a schema.</summary>
/// <param name="Code">A code of the bus: <c>ESB-JSD-…</c>.</param>
/// <param name="Document">The document that has it.</param>
/// <param name="Pointer">JSON pointer to the place in the document.</param>
/// <param name="Problem">One plain clause.</param>
internal sealed record SchemaFault(string Code, SchemaDocument Document, string Pointer, string Problem)
{
    public const string Compile = "ESB-JSD-COMPILE";
    public const string Invalid = "ESB-JSD-INVALID";
    public const string Reference = "ESB-JSD-REF";
    public const string Loop = "ESB-JSD-LOOP";
    public const string Pattern = "ESB-JSD-PATTERN";
}
