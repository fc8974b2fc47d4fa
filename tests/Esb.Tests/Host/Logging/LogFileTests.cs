using Esb.Host.Logging;
using NUnit.Framework;

namespace Esb.Tests.Host.Logging;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class LogFileTests
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-logfile-");

    [TearDown]
    public void Delete() => _folder.Delete(recursive: true);

    [Test]
    public void Lines_are_added_to_what_is_there()
    {
        using (var before = new LogFile(_folder.FullName, "shop", 1000))
            before.Add("one\n");
        using var file = new LogFile(_folder.FullName, "shop", 1000);
        file.Add("two\n");

        Assert.That(Read("shop.log"), Is.EqualTo("one\ntwo\n"));
    }

    [Test]
    public void Full_file_makes_room_and_four_older_ones_are_kept()
    {
        using var file = new LogFile(_folder.FullName, "shop", maxSize: 8);
        for (var line = 0; line < 14; line++)
            file.Add($"{line:000}\n"); // two go into each

        Assert.That(
            _folder.GetFiles().Select(found => found.Name).Order(StringComparer.Ordinal),
            Is.EqualTo(new[] { "shop.1.log", "shop.2.log", "shop.3.log", "shop.4.log", "shop.log" })
        );
        Assert.That(Read("shop.log"), Is.EqualTo("012\n013\n"));
        Assert.That(Read("shop.4.log"), Is.EqualTo("004\n005\n"));
    }

    [Test]
    public void Line_larger_than_a_file_is_written_whole()
    {
        using var file = new LogFile(_folder.FullName, "shop", maxSize: 4);
        file.Add("a long line\n");
        file.Add("next\n");

        Assert.That((Read("shop.1.log"), Read("shop.log")), Is.EqualTo(("a long line\n", "next\n")));
    }

    [Test]
    public void File_that_cannot_make_room_grows_on()
    {
        Directory.CreateDirectory(Path.Combine(_folder.FullName, "shop.1.log")); // in the way
        using var file = new LogFile(_folder.FullName, "shop", maxSize: 8);
        for (var line = 0; line < 5; line++)
            file.Add($"{line:000}\n");

        Assert.That(Read("shop.log"), Is.EqualTo("000\n001\n002\n003\n004\n"));
    }

    private string Read(string name)
    {
        using var stream = new FileStream(Path.Combine(_folder.FullName, name), FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}
