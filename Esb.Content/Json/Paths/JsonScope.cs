using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>What one evaluation of a path may look at, and how long.</summary>
/// <param name="Root">The document, for filters that look at it.</param>
/// <param name="Time">Counts the nodes that are looked at; null where nothing ends it.</param>
internal readonly record struct JsonScope(JsonElement Root, JsonTime? Time = null)
{
    /// <summary>Counts a node that is looked at.</summary>
    public void Count() => Time?.Count();
}
