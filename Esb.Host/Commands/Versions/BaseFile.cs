namespace Esb.Host.Commands.Versions;

/// <summary>The number of the version that the files of a folder were made of, in the file <c>.esb-version</c> beside them.</summary>
internal static class BaseFile
{
    private const string Name = ".esb-version";

    /// <summary>The number; null if the folder has none.</summary>
    public static long? Read(string config)
    {
        var file = Path.Combine(FolderOf(config), Name);
        return File.Exists(file) && long.TryParse(File.ReadAllText(file).Trim(), out var number) ? number : null;
    }

    /// <summary>Notes the number.</summary>
    public static void Write(string config, long number) => File.WriteAllText(Path.Combine(FolderOf(config), Name), $"{number}\n");

    private static string FolderOf(string config) => Directory.Exists(config) ? config : Path.GetDirectoryName(Path.GetFullPath(config))!;
}
