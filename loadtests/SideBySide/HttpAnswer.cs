namespace SideBySide;

/// <param name="ServedBy">The path at the back end, which it tells in a header.</param>
internal sealed record HttpAnswer(int Status, byte[] Body, string? ServedBy);
