using System.Diagnostics;
using Esb.Endpoints.Files;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Endpoints.Files;

[TestFixture]
internal sealed class FolderScanTests
{
    private readonly ManualTime _time = new();
    private DirectoryInfo _folder = null!;

    private string Folder => _folder.FullName;

    // In memory where there is such a place: a hundred thousand files take their time on a disk.
    [SetUp]
    public void CreateFolder() =>
        _folder = Directory.Exists("/dev/shm")
            ? Directory.CreateDirectory($"/dev/shm/esb-{Guid.NewGuid():N}")
            : Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, Property("Case", "FIL-12")]
    public void Growing_file_is_left_alone_until_it_has_been_quiet()
    {
        var scan = Scan();
        for (var second = 0; second < 60; second++)
        {
            File.AppendAllText(At("order.xml"), "<line/>");
            Assert.That(scan.Look(), Has.Property("Stable").Empty.And.Property("HasMore").True, $"after {second} s");
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        scan.Look();
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.That(scan.Look().Stable, Is.EqualTo(["order.xml"]));
    }

    [Test, Property("Case", "FIL-12")]
    public void Two_looks_in_the_same_moment_do_not_make_a_file_stable()
    {
        File.WriteAllText(At("order.xml"), "<order/>");
        var scan = Scan();

        scan.Look();

        Assert.That(scan.Look().Stable, Is.Empty);
    }

    [TestCase("order.xml.tmp")]
    [TestCase("order.PART")]
    [TestCase(".order.xml")]
    [TestCase("order.json", Description = "not of the pattern")]
    [Property("Case", "FIL-12")]
    public void Unfinished_hidden_and_unwanted_files_are_passed_over(string name)
    {
        File.WriteAllText(At(name), "<order/>");

        Assert.That(Settled(Scan("*.xml")), Is.Empty);
        Assert.That(Settled(Scan(name.EndsWith(".json", StringComparison.Ordinal) ? "*.xml" : "*")), Is.Empty);
    }

    [Test, Property("Case", "FIL-10")]
    public void Link_is_passed_over_with_one_warning()
    {
        File.CreateSymbolicLink(At("order.xml"), "/etc/hostname");
        var log = new LogLines();
        var scan = Scan(log: log);

        Assert.That(Settled(scan), Is.Empty);
        Assert.That(Settled(scan), Is.Empty);
        Assert.That(log.Warnings, Has.Count.EqualTo(1).And.All.StartsWith("ESB-FILE-LINK"));
    }

    [Test, CancelAfter(30_000), Property("Case", "FIL-11")]
    public void Folders_pipes_and_sockets_are_passed_over_with_one_warning_each(CancellationToken cancellationToken)
    {
        Directory.CreateDirectory(At("folder.xml"));
        using (var mkfifo = Process.Start("mkfifo", At("pipe.xml")))
            mkfifo.WaitForExit();
        using var socket = new System.Net.Sockets.Socket(
            System.Net.Sockets.AddressFamily.Unix,
            System.Net.Sockets.SocketType.Stream,
            System.Net.Sockets.ProtocolType.Unspecified
        );
        socket.Bind(new System.Net.Sockets.UnixDomainSocketEndPoint(At("socket.xml")));
        File.WriteAllText(At("order.xml"), "<order/>");
        var log = new LogLines();
        var scan = Scan(log: log);

        Assert.That(Settled(scan), Is.EqualTo(["order.xml"]));
        Assert.That(Settled(scan), Is.EqualTo(["order.xml"]));
        Assert.That(log.Warnings, Has.Count.EqualTo(3).And.All.StartsWith("ESB-FILE-KIND"));
    }

    [Test, Category("Thorough"), Property("Case", "FIL-17")]
    public void Hundred_thousand_files_are_found_in_order_batch_by_batch_in_flat_memory()
    {
        for (var number = 0; number < 100_000; number++)
            File.Create(At($"order-{number:D6}.xml")).Dispose();
        var scan = Scan();
        scan.Look();
        _time.Advance(TimeSpan.FromSeconds(1));
        var before = GC.GetAllocatedBytesForCurrentThread();

        var stable = scan.Look().Stable;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.LessThan(30 << 20), "allocated by one look");
            Assert.That(stable, Is.EqualTo(Enumerable.Range(0, FolderScan.Most).Select(number => $"order-{number:D6}.xml")));
        }
    }

    [Test, Property("Case", "FIL-20")]
    public void Dates_in_the_future_do_not_matter_and_names_give_the_order()
    {
        foreach (var (name, year) in new[] { ("b.xml", 2001), ("a.xml", 2099), ("c.xml", 1999) })
        {
            File.WriteAllText(At(name), "<order/>");
            File.SetLastWriteTimeUtc(At(name), new DateTime(year, 1, 1, 0, 0, 0, DateTimeKind.Utc));
        }

        Assert.That(Settled(Scan()), Is.EqualTo(["a.xml", "b.xml", "c.xml"]));
    }

    [Test]
    public void Avoided_file_is_passed_over_until_it_changes()
    {
        File.WriteAllText(At("order.xml"), "<order/>");
        var scan = Scan();
        Settled(scan);

        scan.Avoid("order.xml");
        Assert.That(Settled(scan), Is.Empty);

        File.WriteAllText(At("order.xml"), "<order>changed</order>");
        Assert.That(Settled(scan), Is.EqualTo(["order.xml"]));
    }

    private IReadOnlyList<string> Settled(FolderScan scan)
    {
        scan.Look();
        _time.Advance(TimeSpan.FromSeconds(1));
        return scan.Look().Stable;
    }

    private string At(string name) => Path.Combine(Folder, name);

    private FolderScan Scan(string pattern = "*", LogLines? log = null) =>
        new(
            SomeFiles.InboundConfig(Folder) with
            {
                Pattern = pattern,
                Interval = TimeSpan.FromSeconds(1),
            },
            _time,
            (log ?? new LogLines()).CreateLogger<FolderScan>()
        );
}
