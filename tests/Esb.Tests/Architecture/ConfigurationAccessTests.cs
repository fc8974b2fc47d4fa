using System.Runtime.CompilerServices;

namespace Esb.Tests.Architecture;

/// <summary>Parts of the product ask for the sections and models that they need, by type, and not for the whole configuration.</summary>
public sealed class ConfigurationAccessTests
{
    private const int Most = 15;

    [Test]
    public void Few_files_know_the_whole_configuration()
    {
        var files = Directory
            .GetDirectories(Root(), "Esb.*")
            .SelectMany(project => Directory.EnumerateFiles(project, "*.cs", SearchOption.AllDirectories))
            .Where(file => !file.Split(Path.DirectorySeparatorChar).Any(folder => folder is "obj" or "bin"))
            .ToList();

        var knowing = files.Where(file => File.ReadAllText(file).Contains("EsbConfiguration", StringComparison.Ordinal)).ToList();

        Assert.That(files, Has.Count.GreaterThan(500), "the files of the product");
        Assert.That(knowing, Has.Count.InRange(1, Most), string.Join('\n', knowing));
    }

    private static string Root([CallerFilePath] string here = "") => Path.GetFullPath("../../..", Path.GetDirectoryName(here)!);
}
