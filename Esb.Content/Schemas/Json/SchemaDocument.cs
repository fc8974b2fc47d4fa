using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>A JSON document with schemas: a file of the configuration, or a meta-schema of the program.</summary>
/// <param name="Uri">Where it was read from; relative references resolve against it unless <c>$id</c> says otherwise.</param>
/// <param name="Path">The file; null for a meta-schema.</param>
/// <param name="Root">Its content.</param>
internal sealed record SchemaDocument(Uri Uri, string? Path, JsonElement Root)
{
    /// <summary>Subschemas that have been found, by their JSON pointer.</summary>
    public Dictionary<string, SchemaSite> Sites { get; } = [];
}

/// <summary>A schema with a URI of its own (<c>$id</c>), or the root of a document.</summary>
/// <param name="Base">What references inside resolve against.</param>
/// <param name="Document">The document that has it.</param>
/// <param name="Pointer">Its place in the document.</param>
/// <param name="MetaSchema">The <c>$schema</c> that it or the resource around it names; null for 2020-12.</param>
internal sealed record SchemaResource(Uri Base, SchemaDocument Document, string Pointer, string? MetaSchema)
{
    /// <summary>Schemas with <c>$anchor</c> or <c>$dynamicAnchor</c>, by that name.</summary>
    public Dictionary<string, SchemaSite> Anchors { get; } = [];

    /// <summary>Schemas with <c>$dynamicAnchor</c>, by that name.</summary>
    public Dictionary<string, SchemaSite> DynamicAnchors { get; } = [];
}

/// <summary>A place in a document at which a schema stands.</summary>
internal sealed class SchemaSite(SchemaResource resource, string pointer, JsonElement element, int number)
{
    public SchemaResource Resource => resource;

    public string Pointer => pointer;

    public JsonElement Element => element;

    /// <summary>Different for every site.</summary>
    public int Number => number;

    /// <summary>The pointer to a value below it.</summary>
    public string PointerTo(string keyword, string? part = null) =>
        $"{pointer}/{keyword}{(part is null ? "" : $"/{JsonPointer.Escape(part)}")}";
}
