namespace Esb.Host.WebConsole;

/// <summary>A file of the console, as it is served. Immutable.</summary>
/// <param name="ContentType">The media type.</param>
/// <param name="Bytes">The content.</param>
/// <param name="Compressed">The content, by gzip.</param>
/// <param name="Tag">The entity tag.</param>
internal sealed record ConsoleFile(string ContentType, byte[] Bytes, byte[] Compressed, string Tag);
