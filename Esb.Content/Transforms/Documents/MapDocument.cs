using System.Text.Json;

namespace Esb.Content.Transforms.Documents;

/// <summary>A body as scripts and templates see it. Immutable.</summary>
/// <param name="Json">A JSON value, or the JSON form of XML; undefined for text.</param>
/// <param name="Text">The text; null for JSON and XML.</param>
internal readonly record struct MapDocument(JsonElement Json, string? Text);
