using Esb.Core.Messages;

namespace Esb.Tests.Messages;

/// <summary>Bodies that arrive piece by piece.</summary>
public sealed class BodyBufferTests
{
    private const int Piece = 16 * 1024;

    [TestCase(0)]
    [TestCase(1)]
    [TestCase(Piece)]
    [TestCase(BodyBuffer.FirstBytes - 1)]
    [TestCase(BodyBuffer.FirstBytes)]
    [TestCase(BodyBuffer.FirstBytes + 1)]
    [TestCase(100_000)]
    [TestCase(3_000_000, Category = "Thorough")]
    public void Bytes_are_those_that_came_announced_or_not_added_or_read(int length)
    {
        var bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        foreach (var announced in new long?[] { length, null, length / 2, 2L * length, long.MaxValue })
        {
            Assert.That(Added(bytes, announced).ToArray(), Is.EqualTo(bytes), $"added, {announced} announced");
            Assert.That(Read(bytes, announced), Is.EqualTo(bytes), $"read, {announced} announced");
        }
    }

    [Test]
    public void Announcement_alone_takes_little_memory()
    {
        using var buffer = new BodyBuffer(1 << 30);

        Assert.That(buffer.Room.Length, Is.LessThanOrEqualTo(BodyBuffer.FirstBytes));
    }

    [TestCase(10_000)]
    [TestCase(100_000)]
    [TestCase(900_000)]
    public void Announced_body_is_allocated_once(int length)
    {
        var bytes = new byte[length];
        Added(bytes, length); // the pool has its arrays afterwards
        var before = GC.GetAllocatedBytesForCurrentThread();

        Added(bytes, length);

        Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.InRange(length, length + 1_000));
    }

    private static ReadOnlyMemory<byte> Added(ReadOnlySpan<byte> bytes, long? announced)
    {
        using var buffer = new BodyBuffer(announced);
        for (; !bytes.IsEmpty; bytes = bytes[Math.Min(Piece, bytes.Length)..])
            buffer.Add(bytes[..Math.Min(Piece, bytes.Length)]);
        return buffer.Complete();
    }

    private static byte[] Read(ReadOnlySpan<byte> bytes, long? announced)
    {
        using var buffer = new BodyBuffer(announced);
        while (true)
        {
            var read = Math.Min(buffer.Room.Length, bytes.Length);
            if (read == 0)
                break;
            bytes[..read].CopyTo(buffer.Room.Span);
            buffer.Advance(read);
            bytes = bytes[read..];
        }

        return buffer.Complete().ToArray();
    }
}
