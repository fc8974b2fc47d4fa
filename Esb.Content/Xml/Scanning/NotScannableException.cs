namespace Esb.Content.Xml.Scanning;

/// <summary>An expression asks for more than a forward pass can tell; the tree answers it.</summary>
internal sealed class NotScannableException : Exception;
