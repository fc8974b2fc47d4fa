using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Text;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Nemeses;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>Bodies that a host passes on without holding them in memory: from a folder or a request to a file.</summary>
[CancelAfter(600_000)]
public sealed class StreamedTransferTests
{
    private const long Smoke = 160L << 20;
    private const long Largest = 4L << 30;
    private const long LargestGrowth = 32L << 20;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(300);

    private DirectoryInfo _folder = null!;
    private HostProcess? _host;

    private string Out => Path.Combine(_folder.FullName, "out");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-transfer-");
        _folder.CreateSubdirectory("in");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            """
            {
              "name": "transfer",
              "listeners": { "public": { "url": "http://127.0.0.1:0", "bodyTimeout": "2s" } },
              "endpoints": {
                "drop": { "type": "file-inbound", "folder": "in", "pattern": "*.bin", "interval": "100ms", "process": "keep", "transfer": "streamed", "maxBodySize": "4GiB" },
                "upload": { "type": "http-inbound", "path": "/upload", "process": "keep", "transfer": "streamed", "maxBodySize": "4GiB" },
                "small": { "type": "http-inbound", "path": "/small", "process": "keep", "transfer": "streamed", "maxBodySize": "1MiB" },
                "out": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}.bin", "timeout": "5m" }
              },
              "processes": { "keep": [{ "call": "out" }] }
            }
            """
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase(Smoke), TestCase(Largest, Category = "Thorough")]
    public async Task File_is_copied_whole_without_being_held_in_memory(long size, CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await DropAsync("warm.bin", 1 << 20, cancellationToken);
        await WaitForOutputAsync(1, cancellationToken);
        var before = _host!.PeakMemory;

        var digest = await DropAsync("large.bin", size, cancellationToken);
        await WaitForOutputAsync(2, cancellationToken);

        await AssertWholeAsync(size, digest, before, cancellationToken);
        Assert.That(File.Exists(Path.Combine(_folder.FullName, "in", "done", "large.bin")), Is.True);
    }

    [TestCase(Smoke), TestCase(Largest, Category = "Thorough")]
    public async Task Body_of_a_request_is_written_whole_without_being_held_in_memory(long size, CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await UploadAsync("upload", 1 << 20, cancellationToken);
        var before = _host!.PeakMemory;

        var source = new PatternStream(size);
        Assert.That((await UploadAsync("upload", source, cancellationToken)).Status, Is.EqualTo(HttpStatusCode.Accepted));

        await AssertWholeAsync(size, await DigestAsync(new PatternStream(size), cancellationToken), before, cancellationToken);
    }

    [Test, Category("Thorough")]
    public async Task File_whose_copy_was_killed_in_the_middle_is_copied_again_and_nothing_is_left_of_the_first(
        CancellationToken cancellationToken
    )
    {
        const long Size = 2L << 30;
        await StartAsync(cancellationToken);
        var digest = await DropAsync("large.bin", Size, cancellationToken);
        while (!Unfinished().Any(file => file.Length > Size / 10)) // a copy takes about a second
            await Task.Delay(TimeSpan.FromMilliseconds(2), cancellationToken);
        _host!.Kill();
        await _host.DisposeAsync();
        Assert.That((Finished().Count, Unfinished().Count), Is.EqualTo((0, 1)), "killed in the middle");
        foreach (var left in Unfinished()) // as if time had passed
            left.LastWriteTimeUtc = left.LastWriteTimeUtc.AddMinutes(-1);

        await StartAsync(cancellationToken);
        var before = _host.PeakMemory;
        await WaitForOutputAsync(1, cancellationToken);

        await AssertWholeAsync(Size, digest, before, cancellationToken);
    }

    [Test]
    public async Task Full_disk_refuses_the_request_for_now_and_leaves_nothing(CancellationToken cancellationToken)
    {
        await using var volume = await SmallVolume.MountAsync(Out, megabytes: 32);
        try
        {
            await StartAsync(cancellationToken);

            var full = await UploadAsync("upload", 64 << 20, cancellationToken);
            var again = await UploadAsync("upload", 1 << 20, cancellationToken);

            Assert.That(
                (full.Status, full.Body.Contains("ESB-FILE-DISKFULL")),
                Is.EqualTo((HttpStatusCode.ServiceUnavailable, true)),
                full.Body
            );
            Assert.That(again.Status, Is.EqualTo(HttpStatusCode.Accepted), again.Body);
            Assert.That((Finished().Count, Unfinished().Count), Is.EqualTo((1, 0)));
        }
        finally
        {
            await _host!.DisposeAsync();
        }
    }

    [Test]
    public async Task Body_that_was_announced_and_does_not_come_leaves_nothing(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        await AssertNothingIsLeftAsync(staysConnected: false, "ESB-HTTP-ABORTED", cancellationToken);
        await AssertNothingIsLeftAsync(staysConnected: true, "ESB-HTTP-SLOW", cancellationToken);

        Assert.That((await UploadAsync("upload", 1000, cancellationToken)).Status, Is.EqualTo(HttpStatusCode.Accepted));
    }

    private async Task AssertNothingIsLeftAsync(bool staysConnected, string code, CancellationToken cancellationToken)
    {
        using (var client = new TcpClient())
        {
            await client.ConnectAsync(_host!.Public.Host, _host.Public.Port, cancellationToken);
            await client
                .GetStream()
                .WriteAsync("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n"u8.ToArray(), cancellationToken);
            await client.GetStream().WriteAsync(new byte[100_000], cancellationToken);
            await _host.WaitAsync(_ => Task.FromResult(Unfinished().Count == 1), Limit, "to begin the file", cancellationToken);
            if (staysConnected)
            {
                using var reader = new StreamReader(client.GetStream(), Encoding.ASCII);
                await client.GetStream().WriteAsync("a little more"u8.ToArray(), cancellationToken);
                Assert.That(await reader.ReadLineAsync(cancellationToken), Does.Contain("408"));
            }
        }

        await _host.WaitAsync(_ => Task.FromResult(Unfinished().Count == 0), Limit, "to give the file up", cancellationToken);
        await _host.WaitAsync(_ => Task.FromResult(_host.Output.Contains(code)), Limit, $"to tell {code}", cancellationToken);
        Assert.That(Finished(), Is.Empty);
    }

    [Test]
    public async Task Body_above_the_limit_is_refused_announced_or_not(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        foreach (var announced in new[] { true, false })
        {
            var answer = await UploadAsync("small", new PatternStream(2 << 20) { IsAnnounced = announced }, cancellationToken);

            Assert.That(
                (answer.Status, answer.Body.Contains("ESB-BODY-SIZE")),
                Is.EqualTo((HttpStatusCode.RequestEntityTooLarge, true)),
                answer.Body
            );
            Assert.That((Finished().Count, Unfinished().Count), Is.EqualTo((0, 0)));
        }
    }

    [Test, Category("Thorough")]
    public async Task Repetition_under_the_same_key_gets_the_first_answer_and_writes_nothing(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        var first = await UploadAsync("upload", new PatternStream(5 << 20), cancellationToken, key: "k-1");
        var again = await UploadAsync("upload", new PatternStream(5 << 20), cancellationToken, key: "k-1");
        var other = await UploadAsync("upload", new PatternStream(6 << 20), cancellationToken, key: "k-1");

        Assert.That((first.Status, again), Is.EqualTo((HttpStatusCode.Accepted, first)));
        Assert.That((other.Status, other.Body.Contains("ESB-HTTP-IDEMCONFLICT")), Is.EqualTo((HttpStatusCode.UnprocessableEntity, true)));
        Assert.That(Finished(), Has.Count.EqualTo(1));
    }

    private async Task AssertWholeAsync(long size, byte[] digest, long before, CancellationToken cancellationToken)
    {
        var copy = Finished().MaxBy(file => file.Length)!;
        var peak = _host!.PeakMemory;
        TestContext.Out.WriteLine($"{size >> 20} MiB, memory {before >> 20} MiB before, {peak >> 20} MiB at its peak");
        await using var written = copy.OpenRead();
        var found = await DigestAsync(written, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(copy.Length, Is.EqualTo(size));
            Assert.That(found, Is.EqualTo(digest), "SHA-256");
            Assert.That(peak, Is.LessThan(before + LargestGrowth), "bytes of memory at its peak");
            Assert.That(Unfinished(), Is.Empty);
        }
    }

    private static async Task<byte[]> DigestAsync(Stream stream, CancellationToken cancellationToken) =>
        await SHA256.HashDataAsync(stream, cancellationToken);

    // Under another name first: the endpoint must not see half of it.
    private async Task<byte[]> DropAsync(string name, long size, CancellationToken cancellationToken)
    {
        var unfinished = Path.Combine(_folder.FullName, name);
        await using (var file = File.Create(unfinished))
            await new PatternStream(size).CopyToAsync(file, cancellationToken);
        var digest = await DigestAsync(new PatternStream(size), cancellationToken);
        File.Move(unfinished, Path.Combine(_folder.FullName, "in", name));
        return digest;
    }

    private Task<(HttpStatusCode Status, string Body)> UploadAsync(string path, long size, CancellationToken cancellationToken) =>
        UploadAsync(path, new PatternStream(size), cancellationToken);

    private async Task<(HttpStatusCode Status, string Body)> UploadAsync(
        string path,
        PatternStream body,
        CancellationToken cancellationToken,
        string? key = null
    )
    {
        using var client = new HttpClient { Timeout = Limit };
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host!.Public, path)) { Content = new StreamContent(body) };
        request.Headers.ExpectContinue = true; // an answer that refuses the body comes before it
        request.Headers.TransferEncodingChunked = !body.IsAnnounced;
        request.Content.Headers.ContentLength = body.IsAnnounced ? body.Length : null;
        if (key is not null)
            request.Headers.Add("Idempotency-Key", key);
        using var response = await client.SendAsync(request, cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private Task WaitForOutputAsync(int count, CancellationToken cancellationToken) =>
        _host!.WaitAsync(
            _ => Task.FromResult(Finished().Count >= count && !Directory.EnumerateFiles(Path.Combine(_folder.FullName, "in")).Any()),
            Limit,
            $"to write {count} files",
            cancellationToken
        );

    private List<FileInfo> Finished() => FilesOf(file => !file.Name.StartsWith('.'));

    private List<FileInfo> Unfinished() => FilesOf(file => file.Name.StartsWith('.'));

    private List<FileInfo> FilesOf(Func<FileInfo, bool> wanted) =>
        Directory.Exists(Out) ? [.. new DirectoryInfo(Out).GetFiles().Where(wanted)] : [];

    private async Task StartAsync(CancellationToken cancellationToken) =>
        _host = await HostProcess.StartAsync("esb.json", _folder.FullName, cancellationToken);
}

/// <summary>Bytes of which no two blocks are the same, made as they are read.</summary>
internal sealed class PatternStream(long length) : Stream
{
    private const int Block = 64 * 1024;

    private readonly byte[] _block = MakeBlock();
    private long _position;

    /// <summary>True if a request tells the length first.</summary>
    public bool IsAnnounced { get; init; } = true;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => length;

    public override long Position
    {
        get => _position;
        set => throw new NotSupportedException();
    }

    public override int Read(Span<byte> buffer)
    {
        var offset = (int)(_position % Block);
        var count = (int)Math.Min(Math.Min(buffer.Length, Block - offset), length - _position);
        if (count <= 0)
            return 0;
        BitConverter.TryWriteBytes(_block, _position / Block); // the number of the block at its beginning
        _block.AsSpan(offset, count).CopyTo(buffer);
        _position += count;
        return count;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override void Flush() { }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    private static byte[] MakeBlock()
    {
        var block = new byte[Block];
        new Random(1).NextBytes(block);
        return block;
    }
}
