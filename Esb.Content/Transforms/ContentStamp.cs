namespace Esb.Content.Transforms;

/// <summary>What files look like from outside: cheap to take, and another one after a change.</summary>
internal static class ContentStamp
{
    public static string Of(IEnumerable<string> paths) => string.Join('\n', paths.Select(Of));

    private static string Of(string path)
    {
        var file = new FileInfo(path);
        return file.Exists ? $"{path} {file.Length} {file.LastWriteTimeUtc.Ticks}" : $"{path} is not there";
    }
}
