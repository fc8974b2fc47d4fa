using System.Runtime.Versioning;
using Esb.Core.Configuration;
using Esb.Host.Management;
using NUnit.Framework;

namespace Esb.Tests.Host.Management;

public sealed class ManagementKeyTests
{
    private DirectoryInfo _folder = null!;

    private string KeyFile => Path.Combine(_folder.FullName, "esb-data", "management.key");

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public void First_start_makes_a_key_that_only_its_owner_can_read()
    {
        var key = ManagementKey.ReadOrCreate(KeyFile);

        var written = File.ReadAllText(KeyFile).Trim();
        Assert.That(written, Has.Length.EqualTo(43).And.Matches("^[A-Za-z0-9_-]+$"));
        Assert.That(key.Matches(written), Is.True);
        if (!OperatingSystem.IsWindows())
            Assert.That(File.GetUnixFileMode(KeyFile), Is.EqualTo(UnixFileMode.UserRead | UnixFileMode.UserWrite));
    }

    [Test, Platform(Exclude = "Win"), UnsupportedOSPlatform("windows")]
    public void Folder_that_the_first_start_makes_is_its_owners_alone()
    {
        var folder = Path.Combine(_folder.FullName, "made");

        ManagementKey.ReadOrCreate(Path.Combine(folder, "management.key"));

        Assert.That(File.GetUnixFileMode(folder), Is.EqualTo(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute));
    }

    [Test]
    public void Later_starts_keep_the_key()
    {
        ManagementKey.ReadOrCreate(KeyFile);
        var written = File.ReadAllText(KeyFile);

        var key = ManagementKey.ReadOrCreate(KeyFile);

        Assert.That(File.ReadAllText(KeyFile), Is.EqualTo(written));
        Assert.That(key.Matches(written.Trim()), Is.True);
    }

    [TestCase(""), TestCase(null), TestCase("the-ke"), TestCase("the-key2"), TestCase("THE-KEY")]
    public void Anything_but_the_key_does_not_match(string? presented) =>
        Assert.That(new ManagementKey("the-key").Matches(presented), Is.False);

    [Test, Platform(Exclude = "Win"), UnsupportedOSPlatform("windows")]
    public void Key_that_others_can_read_or_that_is_too_short_opens_nothing()
    {
        ManagementKey.ReadOrCreate(KeyFile);
        File.SetUnixFileMode(KeyFile, UnixFileMode.UserRead | UnixFileMode.OtherRead);
        Assert.That(
            () => ManagementKey.ReadOrCreate(KeyFile),
            Throws.TypeOf<ConfigurationRefusedException>().With.Message.Contains("ESB-CFG-KEYFILE")
        );

        File.SetUnixFileMode(KeyFile, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        File.WriteAllText(KeyFile, "x");
        Assert.That(
            () => ManagementKey.ReadOrCreate(KeyFile),
            Throws.TypeOf<ConfigurationRefusedException>().With.Message.Contains("too short")
        );
    }

    [Test]
    public void Empty_key_file_opens_nothing()
    {
        Directory.CreateDirectory(Path.GetDirectoryName(KeyFile)!);
        File.WriteAllText(KeyFile, "\n");

        Assert.That(
            () => ManagementKey.ReadOrCreate(KeyFile),
            Throws.TypeOf<ConfigurationRefusedException>().With.Message.Contains("ESB-CFG-KEYFILE")
        );
    }
}
