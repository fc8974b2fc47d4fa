using System.Diagnostics;
using Esb.Core.Storage;
using Esb.Host.Versions;

namespace Esb.Tests.Host.Versions;

public sealed class VersionFoldersTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-versions-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, CancelAfter(60_000)]
    public async Task Version_that_does_not_fit_on_the_disk_leaves_the_last_one_and_is_written_when_there_is_room(
        CancellationToken cancellationToken
    )
    {
        var volume = Directory.CreateDirectory(Path.Combine(_folder.FullName, "small")).FullName;
        if (Environment.UserName != "root" || !Run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", volume))
            Assert.Ignore("Only root can mount a small volume: a version on a full disk is not proven by this run.");
        try
        {
            var folders = new VersionFolders(volume, TimeProvider.System);
            var ballast = Path.Combine(volume, "ballast");
            var first = await folders.WriteAsync(Version(mapBytes: 1024), cancellationToken);
            folders.Note(1, first);
            await File.WriteAllBytesAsync(ballast, new byte[600 * 1024], cancellationToken);

            var large = Version(mapBytes: 700 * 1024);
            Assert.That(async () => await folders.WriteAsync(large, cancellationToken), Throws.InstanceOf<IOException>());
            Assert.That(folders.FindLast(), Is.EqualTo((1L, first)));
            Assert.That(await File.ReadAllTextAsync(first, cancellationToken), Is.EqualTo("{}"));
            Assert.That(Directory.GetDirectories(Path.Combine(volume, "configuration")), Has.Length.EqualTo(1), "the space is free again");

            File.Delete(ballast);
            var second = await folders.WriteAsync(large, cancellationToken);
            var map = Path.Combine(Path.GetDirectoryName(second)!, "maps", "a.xslt");
            Assert.That(new FileInfo(map).Length, Is.EqualTo(700 * 1024));
        }
        finally
        {
            Assert.That(Run("umount", volume), volume);
        }
    }

    [TestCase("esb.json", false), TestCase("maps/a.xslt", false), TestCase("maps/a.xslt", true), TestCase("more.esb.json", true)]
    public async Task Version_that_is_not_as_it_was_written_is_written_again(string name, bool writes)
    {
        var folders = new VersionFolders(_folder.FullName, TimeProvider.System);
        var version = Version(mapBytes: 100);
        var first = await folders.WriteAsync(version, CancellationToken.None);
        var file = Path.Combine(Path.GetDirectoryName(first)!, name);
        if (writes)
            await File.WriteAllTextAsync(file, "{ }");
        else
            File.Delete(file);

        var second = await folders.WriteAsync(version, CancellationToken.None);

        Assert.That(second, Is.EqualTo(first));
        Assert.That(
            Directory.GetFiles(Path.GetDirectoryName(first)!, "*", SearchOption.AllDirectories).Select(Path.GetFileName),
            Is.EquivalentTo(new[] { "esb.json", "a.xslt" })
        );
        Assert.That(await File.ReadAllTextAsync(first), Is.EqualTo("{}"));
        Assert.That(Directory.GetDirectories(Path.Combine(_folder.FullName, "configuration")), Has.Length.EqualTo(1));
    }

    private static ConfigurationContent Version(int mapBytes) =>
        new()
        {
            Files = new Dictionary<string, string> { ["esb.json"] = "{}" },
            Contents = new Dictionary<string, byte[]> { ["maps/a.xslt"] = new byte[mapBytes] },
        };

    private static bool Run(string program, params string[] arguments)
    {
        using var process = Process.Start(program, arguments);
        process.WaitForExit();
        return process.ExitCode == 0;
    }
}
