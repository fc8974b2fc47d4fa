namespace SideBySide;

/// <summary>A side could not be measured; the message goes into the table in place of a figure.</summary>
internal sealed class NotRunException(string message, Exception? innerException = null) : Exception(message, innerException);
