using Esb.Core.Messages;

namespace Esb.Content.Transforms;

/// <summary>What a map made.</summary>
/// <param name="Body">Buffered.</param>
/// <param name="ContentType">Its media type, with its charset.</param>
public readonly record struct MappedBody(MessageBody Body, string ContentType);
