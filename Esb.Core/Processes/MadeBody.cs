using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>Output of a map.</summary>
public enum MadeKind
{
    /// <summary>XML.</summary>
    Xml,

    /// <summary>Text declared as JSON.</summary>
    Json,

    /// <summary>HTML, which is not necessarily XML.</summary>
    Html,

    /// <summary>Text of unspecified kind.</summary>
    Text,
}

/// <summary>A body that a map created: if a later step cannot read it, the sender is not at fault. Immutable.</summary>
/// <param name="Body">The body; it is the message's body until a step replaces it.</param>
/// <param name="Map">The name of the map.</param>
/// <param name="Kind">Output of the map.</param>
public sealed record MadeBody(MessageBody Body, string Map, MadeKind Kind);
