using Esb.Storage.Segments;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Fuzzing;

/// <summary>Of a damaged segment only records are read that were written, in their order: all before the damage, and what is written after
/// it.</summary>
public sealed class SegmentFuzzTests : Fuzzer
{
    private static readonly byte[] Added = [1, 2, 3];
    private static readonly string[] Pieces = ["\0\0\0\0", "\u007f\u007f\u007f\u007f", "\u0001\0\0\0", "record"];

    private string _folder = null!;
    private List<byte[]> _records = null!;
    private byte[] _valid = null!;
    private int _lost;

    [OneTimeSetUp]
    public async Task WriteAsync()
    {
        var folder = Directory.CreateTempSubdirectory("esb-").FullName;
        var random = new Random(1);
        _records = [.. Enumerable.Range(0, 40).Select(number => Payload(random, number))];
        await using (var log = SegmentLog.Open(folder, SegmentOptions.Default, NullLogger.Instance))
        {
            foreach (var record in _records)
                await log.AppendAsync(record, CancellationToken.None);
        }

        _valid = await File.ReadAllBytesAsync(new SegmentFile(folder, 1).Path);
        Directory.Delete(folder, recursive: true);

        static byte[] Payload(Random random, int number)
        {
            var bytes = new byte[random.Next(300)];
            random.NextBytes(bytes);
            return [(byte)number, 7, .. bytes];
        }
    }

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    protected override void Round(Random random)
    {
        foreach (var old in Directory.GetFileSystemEntries(_folder))
        {
            if (Directory.Exists(old))
                Directory.Delete(old, recursive: true);
            else
                File.Delete(old);
        }

        var damaged = Broken.Bytes(random, _valid, Pieces);
        File.WriteAllBytes(new SegmentFile(_folder, 1).Path, damaged);

        var read = Read();
        AppendAsync().GetAwaiter().GetResult();
        var after = Read();

        AssertWritten(read, damaged);
        Assert.That(after[^1], Is.EqualTo(Added));
        AssertWritten(after[..^1], damaged);
    }

    protected override void AssertReach() => Assert.That(_lost, Is.GreaterThan(0));

    // A piece that was copied may hold whole records: then one comes twice.
    private void AssertWritten(IReadOnlyList<byte[]> read, byte[] damaged)
    {
        var numbers = read.Select(record => _records.FindIndex(one => one.AsSpan().SequenceEqual(record))).ToList();
        Assert.That(numbers, Has.None.EqualTo(-1), "a record that nobody wrote");
        Assert.That(numbers, Is.Ordered);
        Assert.That(numbers.Take(Untouched(damaged)), Is.EqualTo(Enumerable.Range(0, Untouched(damaged))));
        _lost += _records.Count - numbers.Distinct().Count();
    }

    private int Untouched(byte[] damaged)
    {
        var same = damaged.AsSpan().CommonPrefixLength(_valid);
        var (count, end) = (0, 0);
        while (count < _records.Count && (end += SegmentRecord.HeaderBytes + _records[count].Length) <= same)
            count++;
        return count;
    }

    private List<byte[]> Read() =>
        [.. new SegmentReader(_folder, committed: null, NullLogger.Instance).ReadNew().Select(record => record.Payload.ToArray())];

    private async Task AppendAsync()
    {
        await using var log = SegmentLog.Open(_folder, SegmentOptions.Default, NullLogger.Instance);
        await log.AppendAsync(Added, CancellationToken.None);
    }
}
