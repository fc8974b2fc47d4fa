using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>A file of a decoded archive, or a part of a decoded MIME body. Immutable.</summary>
/// <param name="Name">Its name; a path with slashes in an archive. It comes from the sender.</param>
/// <param name="ContentType">Its media type; null if unknown.</param>
/// <param name="Body">Its content, buffered.</param>
public sealed record MessageEntry(string Name, string? ContentType, MessageBody Body);
