using System.Diagnostics;
using System.Runtime.Versioning;
using System.Text;
using Esb.Core.Errors;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Storage.Segments;

public sealed class SegmentLogTests
{
    private static readonly SegmentOptions SmallSegments = new(MaxSegmentBytes: 1000);

    private string _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    [Test, CancelAfter(30_000)]
    public async Task Records_are_read_back_in_their_order_after_reopening(CancellationToken cancellationToken)
    {
        await AppendAsync(["one", "", "three"], cancellationToken);
        await AppendAsync(["four"], cancellationToken);

        Assert.That(ReadAll(), Is.EqualTo(["one", "", "three", "four"]));
    }

    [Test, CancelAfter(30_000), Platform(Exclude = "Win"), UnsupportedOSPlatform("windows")]
    public async Task Files_and_folders_are_for_their_owner_alone(CancellationToken cancellationToken)
    {
        _folder = Path.Combine(_folder, "made");
        await AppendAsync(["one"], cancellationToken);

        Assert.That(File.GetUnixFileMode(_folder), Is.EqualTo(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute));
        Assert.That(
            Directory.GetFiles(_folder).Select(File.GetUnixFileMode),
            Is.Not.Empty.And.All.EqualTo(UnixFileMode.UserRead | UnixFileMode.UserWrite)
        );
        _folder = Path.GetDirectoryName(_folder)!;
    }

    [Test, CancelAfter(30_000)]
    public async Task Records_of_concurrent_callers_are_all_kept_once(CancellationToken cancellationToken)
    {
        await using (var log = Open(SmallSegments))
        {
            await Task.WhenAll(Enumerable.Range(0, 2000).Select(number => log.AppendAsync(Bytes($"record {number}"), cancellationToken)));
        }

        Assert.That(ReadAll(), Is.EquivalentTo(Enumerable.Range(0, 2000).Select(number => $"record {number}")));
        Assert.That(SegmentFile.List(_folder), Has.Count.GreaterThan(1));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-AUD-5")]
    public async Task A_record_torn_at_any_byte_is_cut_and_quarantined(CancellationToken cancellationToken)
    {
        await AppendAsync(["first", "second"], cancellationToken);
        var whole = await File.ReadAllBytesAsync(TheSegment, cancellationToken);
        var firstEnds = SegmentRecord.HeaderBytes + "first".Length;

        for (var length = firstEnds + 1; length < whole.Length; length++)
        {
            await File.WriteAllBytesAsync(TheSegment, whole[..length], cancellationToken);
            await AppendAsync(["third"], cancellationToken);

            Assert.That(ReadAll(), Is.EqualTo(["first", "third"]), $"cut to {length} bytes");
            var torn = Path.Combine(_folder, SegmentRecovery.QuarantineFolder, $"0000000001-{firstEnds}-{length - firstEnds}.bytes");
            Assert.That(await File.ReadAllBytesAsync(torn, cancellationToken), Is.EqualTo(whole[firstEnds..length]));
        }
    }

    [Test, CancelAfter(30_000), Property("Case", "T-AUD-5")]
    public async Task A_flipped_bit_costs_only_its_own_record(CancellationToken cancellationToken)
    {
        string[] records = ["first", "second", "third"];
        await AppendAsync(records, cancellationToken);
        var whole = await File.ReadAllBytesAsync(TheSegment, cancellationToken);

        for (var bit = 0; bit < whole.Length * 8; bit++)
        {
            var damaged = (byte[])whole.Clone();
            damaged[bit / 8] ^= (byte)(1 << (bit % 8));
            await File.WriteAllBytesAsync(TheSegment, damaged, cancellationToken);
            await using (Open()) { }

            Assert.That(ReadAll(), Is.EqualTo(records.Where((_, index) => index != RecordAt(records, bit / 8))), $"bit {bit}");
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task Zeros_that_a_crash_left_at_the_end_are_cut(CancellationToken cancellationToken)
    {
        await AppendAsync(["first"], cancellationToken);
        await using (var file = File.OpenWrite(TheSegment))
            file.SetLength(file.Length + 4096);

        await AppendAsync(["second"], cancellationToken);

        Assert.That(ReadAll(), Is.EqualTo(["first", "second"]));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_second_writer_is_refused_while_the_first_is_open(CancellationToken cancellationToken)
    {
        await using (Open())
        {
            Assert.That(
                () => Open(),
                Throws
                    .TypeOf<EsbException>()
                    .With.Property("Code")
                    .EqualTo("ESB-STORE-INUSE")
                    .And.Message.EndsWith("give each its own store.folder.")
                    .And.InnerException.Null
            );
        }

        await AppendAsync(["first"], cancellationToken);
        Assert.That(ReadAll(), Is.EqualTo(["first"]));
    }

    [Test]
    public void Folder_that_cannot_be_written_is_told_as_that()
    {
        var folder = Path.Combine(Directory.CreateDirectory(_folder).FullName, "a-file", "store");
        File.WriteAllText(Path.GetDirectoryName(folder)!, "");

        Assert.That(
            () => SegmentLog.Open(folder, SegmentOptions.Default, NullLogger.Instance),
            Throws
                .TypeOf<EsbException>()
                .With.Property("Code")
                .EqualTo("ESB-STORE-FOLDER")
                .And.Message.StartsWith($"The folder '{folder}' cannot be written: ")
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Writing_goes_on_once_the_disk_can_be_written_again(CancellationToken cancellationToken)
    {
        var obstacle = Directory.CreateDirectory(TheSegment);
        await using var log = Open();

        Assert.That(
            () => log.AppendAsync(Bytes("lost"), cancellationToken),
            Throws.InstanceOf<UnauthorizedAccessException>().Or.InstanceOf<IOException>()
        );
        Assert.That(log.Trouble, Is.Not.Null);
        obstacle.Delete();
        await log.AppendAsync(Bytes("kept"), cancellationToken);

        Assert.That(log.Trouble, Is.Null);
        Assert.That(ReadAll(), Is.EqualTo(["kept"]));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_full_disk_leaves_no_empty_segments_and_the_log_notices_by_itself_when_there_is_space_again(
        CancellationToken cancellationToken
    )
    {
        if (Environment.UserName != "root" || !Run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", _folder))
            Assert.Ignore("Only root can mount a small volume.");
        try
        {
            await using var log = Open();
            await log.AppendAsync(Bytes("before"), cancellationToken);
            for (var i = 0; i < 5; i++)
                Assert.That(() => log.AppendAsync(new byte[300_000], cancellationToken), Throws.InstanceOf<IOException>());
            Assert.That(log.Trouble, Is.Not.Null);
            Assert.That(SegmentFile.List(_folder), Has.Count.EqualTo(1));

            Assert.That(() => log.Trouble, Is.Null.After(10_000, 100));
            await log.AppendAsync(Bytes("after"), cancellationToken);

            Assert.That(ReadAll(), Is.EqualTo(["before", "after"]));
        }
        finally
        {
            Run("umount", "--lazy", _folder);
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task A_volume_that_is_nearly_full_is_trouble_before_a_write_fails(CancellationToken cancellationToken)
    {
        if (Environment.UserName != "root" || !Run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", _folder))
            Assert.Ignore("Only root can mount a small volume.");
        try
        {
            var filler = Path.Combine(_folder, "filler");
            await using var log = Open();
            await log.AppendAsync(Bytes("before"), cancellationToken);
            var atFirst = log.Trouble;

            await File.WriteAllBytesAsync(filler, new byte[220 * 1024], cancellationToken);
            var whenFull = log.Trouble;
            File.Delete(filler);

            Assert.That((atFirst, log.Trouble), Is.EqualTo(((string?)null, (string?)null)));
            Assert.That(whenFull, Does.StartWith("the disk is full but for"));
        }
        finally
        {
            Run("umount", "--lazy", _folder);
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task A_reader_beside_the_writer_leaves_an_unfinished_record_for_later(CancellationToken cancellationToken)
    {
        await AppendAsync(["first", "second"], cancellationToken);
        var whole = await File.ReadAllBytesAsync(TheSegment, cancellationToken);
        await File.WriteAllBytesAsync(TheSegment, whole[..^3], cancellationToken);
        var reader = new SegmentReader(_folder, committed: null, NullLogger.Instance);

        var before = Read(reader);
        await File.WriteAllBytesAsync(TheSegment, whole, cancellationToken);
        var after = Read(reader);

        Assert.That(before, Is.EqualTo(["first"]));
        Assert.That(after, Is.EqualTo(["second"]));
    }

    private static bool Run(string program, params string[] arguments)
    {
        using var process = Process.Start(program, arguments);
        process.WaitForExit();
        return process.ExitCode == 0;
    }

    private string TheSegment => new SegmentFile(_folder, 1).Path;

    private SegmentLog Open(SegmentOptions? options = null) =>
        SegmentLog.Open(_folder, options ?? SegmentOptions.Default, NullLogger.Instance);

    private async Task AppendAsync(string[] records, CancellationToken cancellationToken)
    {
        await using var log = Open();
        foreach (var record in records)
            await log.AppendAsync(Bytes(record), cancellationToken);
    }

    private List<string> ReadAll() => Read(new SegmentReader(_folder, committed: null, NullLogger.Instance));

    private static List<string> Read(SegmentReader reader) =>
        [.. reader.ReadNew().Select(record => Encoding.UTF8.GetString(record.Payload.Span))];

    private static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static int RecordAt(string[] records, int offset)
    {
        for (var (index, end) = (0, 0); ; index++)
        {
            end += SegmentRecord.HeaderBytes + records[index].Length;
            if (offset < end)
                return index;
        }
    }
}
