using Esb.Core.Processes;

namespace Esb.Content.Transforms;

/// <summary>A run of a map on a message, with what the map may use beside its arguments.</summary>
/// <param name="Context">The message; its body must be buffered.</param>
public readonly record struct MapCall(MessageContext Context)
{
    /// <summary>Receives the lines that a map logs; null to discard them.</summary>
    public Action<string>? Log { get; init; }

    /// <summary>Finds an entry of a look-up by the look-up's name and the key, as text, number, boolean or null; null if the configuration
    /// has no look-ups.</summary>
    public Func<string, object?, object?>? Lookup { get; init; }
}
