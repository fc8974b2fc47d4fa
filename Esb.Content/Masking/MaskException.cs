namespace Esb.Content.Masking;

/// <summary>A body in which something is to be masked cannot be masked: nothing of it may be recorded.</summary>
internal sealed class MaskException(string message) : Exception(message);
