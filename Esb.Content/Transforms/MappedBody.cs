using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Content.Transforms;

/// <summary>What a map made.</summary>
/// <param name="Body">Buffered.</param>
/// <param name="ContentType">Its media type, with its charset.</param>
/// <param name="Kind">What the map that ran says that it makes.</param>
public readonly record struct MappedBody(MessageBody Body, string ContentType, MadeKind Kind);
