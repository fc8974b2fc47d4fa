namespace Esb.Content.Transforms;

/// <summary>A map that cannot be used, and where in which of its files.</summary>
internal sealed class MapFileException(string code, string message, string? uri, int line, int column) : Exception(message)
{
    public string Code => code;

    public string? Uri => uri;

    public int Line => line;

    public int Column => column;
}
