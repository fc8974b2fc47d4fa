using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>What a map makes.</summary>
public enum MadeKind
{
    /// <summary>XML.</summary>
    Xml,

    /// <summary>Text that is said to be JSON.</summary>
    Json,

    /// <summary>HTML, which is XML only by chance.</summary>
    Html,

    /// <summary>Text of which nothing more is said.</summary>
    Text,
}

/// <summary>A body that a map made: where a later step cannot read it, the fault is not its sender's. Immutable.</summary>
/// <param name="Body">The body; that of the message as long as no step replaced it.</param>
/// <param name="Map">The name of the map.</param>
/// <param name="Kind">What the map makes.</param>
public sealed record MadeBody(MessageBody Body, string Map, MadeKind Kind);
