namespace Esb.Content.Transforms.Streaming;

/// <summary>This stylesheet, or this message, is for the engine: what was made of it so far is dropped.</summary>
internal sealed class NotStreamedException : Exception;
