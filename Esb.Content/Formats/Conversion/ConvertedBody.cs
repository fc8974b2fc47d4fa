using Esb.Core.Messages;

namespace Esb.Content.Formats.Conversion;

/// <summary>The result of a conversion.</summary>
/// <param name="Body">Buffered.</param>
/// <param name="ContentType">Its media type, with its charset.</param>
public readonly record struct ConvertedBody(MessageBody Body, string ContentType);
