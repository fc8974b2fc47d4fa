using System.Globalization;
using System.Net;
using System.Security.Cryptography;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sftp;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>Bodies that a host passes on to HTTP and SFTP servers, and takes from SFTP servers, without holding them in memory.</summary>
[CancelAfter(900_000)]
public sealed class StreamedSendTests
{
    private const long Smoke = 96L << 20;
    private const long Large = 1L << 30;
    private const long Largest = 4L << 30;
    private const long Killed = 256L << 20;
    private const long LargestGrowth = 32L << 20;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(300);

    private DirectoryInfo _folder = null!;
    private DigestBackend _backend = null!;
    private SshServer _server = null!;
    private HostProcess? _host;

    private string Out => Path.Combine(_folder.FullName, "out");

    private string Remote => _server.At("out");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-send-");
        (_backend, _server) = (await DigestBackend.StartAsync(), await SshServer.StartAsync());
        foreach (var folder in new[] { PathOf("to-http"), PathOf("to-sftp"), _server.At("in"), _server.At("rows"), Remote })
            Directory.CreateDirectory(folder);
        var sftp = $$""" "privateKey": "${env:SFTP_KEY}", "hostKey": "{{_server.HostKey}}" """;
        await File.WriteAllTextAsync(
            PathOf("esb.json"),
            $$"""
            {
              "name": "send",
              "formats": { "rows": { "type": "csv" } },
              "endpoints": {
                "to-http": { "type": "file-inbound", "folder": "to-http", "interval": "100ms", "process": "post", "transfer": "streamed", "maxBodySize": "4GiB" },
                "upload": { "type": "http-inbound", "path": "/upload", "process": "post", "transfer": "streamed", "maxBodySize": "4GiB" },
                "to-sftp": { "type": "file-inbound", "folder": "to-sftp", "interval": "100ms", "process": "put", "transfer": "streamed", "maxBodySize": "4GiB" },
                "upload-sftp": { "type": "http-inbound", "path": "/upload-sftp", "process": "put", "transfer": "streamed", "maxBodySize": "4GiB" },
                "from-sftp": { "type": "sftp-inbound", "url": "{{_server.Url}}/in", {{sftp}}, "interval": "100ms", "process": "keep", "transfer": "streamed", "maxBodySize": "4GiB" },
                "rows-sftp": { "type": "sftp-inbound", "url": "{{_server.Url}}/rows", {{sftp}}, "interval": "100ms", "process": "divide", "transfer": "streamed", "maxBodySize": "4GiB" },
                "row": { "type": "file-outbound", "folder": "rows", "fileName": "{message.id}.json" },
                "web": { "type": "http-outbound", "url": "{{_backend.Url}}", "timeout": "5m" },
                "partner": { "type": "sftp-outbound", "url": "{{_server.Url}}/out", {{sftp}}, "fileName": "{message.id}.bin", "timeout": "5m" },
                "out": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}.bin", "timeout": "5m" }
              },
              "processes": {
                "post": [{ "call": { "endpoint": "web", "headers": { "x-file": { "property": "file.name" } } } }],
                "put": [{ "call": "partner" }],
                "keep": [{ "call": "out" }],
                "divide": [{ "id": "rows", "split": { "format": "rows", "steps": [{ "call": "row" }] } }]
              }
            }
            """
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        await _backend.DisposeAsync();
        await _server.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase(Smoke), TestCase(Large, Category = "Thorough")]
    public async Task File_is_posted_whole_without_being_held_in_memory(long size, CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await DropAsync(PathOf("to-http"), "warm.bin", 1 << 20, cancellationToken);
        await WaitAsync(() => _backend.Taken.Count == 1, "to post the first file", cancellationToken);
        var before = _host!.PeakMemory;

        var digest = await DropAsync(PathOf("to-http"), "large.bin", size, cancellationToken);
        await WaitAsync(() => File.Exists(PathOf("to-http", "done", "large.bin")), "to post the large file", cancellationToken);

        var (length, found, _) = _backend.Taken.Last();
        Assert.That((_backend.Taken.Count, length, found), Is.EqualTo((2, size, digest)));
        AssertGrowth(size, before);
    }

    [Test, Category("Thorough")]
    public async Task Upload_is_posted_on_whole_without_being_held_in_memory(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await UploadAsync("upload", 1 << 20, cancellationToken);
        var before = _host!.PeakMemory;

        var status = await UploadAsync("upload", Smoke, cancellationToken);

        var (length, found, _) = _backend.Taken.Last();
        Assert.That(
            (status, _backend.Taken.Count, length, found),
            Is.EqualTo((HttpStatusCode.Accepted, 2, Smoke, await DigestAsync(new PatternStream(Smoke), cancellationToken)))
        );
        AssertGrowth(Smoke, before);
    }

    [Test, Category("Thorough")]
    public async Task File_whose_connection_is_reset_in_the_middle_is_posted_again_under_the_same_key(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        _backend.ResetNext(1);

        var digest = await DropAsync(PathOf("to-http"), "large.bin", Smoke, cancellationToken);
        await WaitAsync(() => File.Exists(PathOf("to-http", "done", "large.bin")), "to post the file", cancellationToken);

        Assert.That(_backend.Taken.Select(taken => (taken.Length, taken.Digest)), Is.EqualTo(new[] { (Smoke, digest) }));
        Assert.That(_backend.Taken.Single().Key, Is.Not.Empty);
    }

    [Test, Category("Thorough")]
    public async Task Upload_whose_connection_is_reset_in_the_middle_is_refused_for_now(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        _backend.ResetNext(1);

        var refused = await UploadAsync("upload", Smoke, cancellationToken);
        var again = await UploadAsync("upload", 1 << 20, cancellationToken);

        Assert.That(refused, Is.EqualTo(HttpStatusCode.BadGateway).Or.EqualTo(HttpStatusCode.ServiceUnavailable));
        Assert.That(again, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(_backend.Taken.Select(taken => taken.Length), Is.EqualTo(new[] { 1L << 20 }), "nothing of the torn body counts");
    }

    [TestCase(Smoke), TestCase(Largest, Category = "Thorough")]
    public async Task File_is_put_on_a_server_whole_without_being_held_in_memory(long size, CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await DropAsync(PathOf("to-sftp"), "warm.bin", 1 << 20, cancellationToken);
        await WaitAsync(() => File.Exists(PathOf("to-sftp", "done", "warm.bin")), "to put the first file", cancellationToken);
        var before = _host!.PeakMemory;

        var digest = await DropAsync(PathOf("to-sftp"), "large.bin", size, cancellationToken);
        await WaitAsync(() => File.Exists(PathOf("to-sftp", "done", "large.bin")), "to put the large file", cancellationToken);

        await AssertWholeAsync(Remote, size, digest, cancellationToken);
        AssertGrowth(size, before);
    }

    [Test, Category("Thorough")]
    public async Task Upload_is_put_on_a_server_whole(CancellationToken cancellationToken)
    {
        const long Size = 16L << 20;
        await StartAsync(cancellationToken);

        Assert.That(await UploadAsync("upload-sftp", Size, cancellationToken), Is.EqualTo(HttpStatusCode.Accepted));

        await AssertWholeAsync(Remote, Size, await DigestAsync(new PatternStream(Size), cancellationToken), cancellationToken);
    }

    [TestCase(Smoke), TestCase(Largest, Category = "Thorough")]
    public async Task File_of_a_server_is_taken_whole_without_being_held_in_memory(long size, CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await DropAsync(_server.At("in"), "warm.bin", 1 << 20, cancellationToken);
        await WaitAsync(() => Finished(Out).Count == 1, "to take the first file", cancellationToken);
        var before = _host!.PeakMemory;

        var digest = await DropAsync(_server.At("in"), "large.bin", size, cancellationToken);
        await WaitAsync(() => Finished(Out).Count == 2 && Left() == 0, "to take the large file", cancellationToken);

        await AssertWholeAsync(Out, size, digest, cancellationToken);
        AssertGrowth(size, before);
    }

    [Test]
    public async Task File_of_a_server_is_divided_as_it_is_read(CancellationToken cancellationToken)
    {
        const int Rows = 300;
        await StartAsync(cancellationToken);

        var text = string.Concat(Enumerable.Range(0, Rows).Select(number => $"{number},{new string('x', 1_000)}\n"));
        await _server.PutAsync("rows/rows.csv", $"number,text\n{text}", cancellationToken);
        await WaitAsync(() => Finished(PathOf("rows")).Count == Rows && Left("rows") == 0, "to divide the file", cancellationToken);

        var numbers = Finished(PathOf("rows"))
            .Select(file => int.Parse(File.ReadAllText(file.FullName).Split('"')[3], CultureInfo.InvariantCulture));
        Assert.That(numbers, Is.EquivalentTo(Enumerable.Range(0, Rows)));
    }

    [Test, Category("Thorough")]
    public async Task File_whose_server_is_killed_in_the_middle_is_put_again_and_nothing_is_left_of_the_first(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(cancellationToken);
        var digest = await DropAsync(PathOf("to-sftp"), "large.bin", Killed, cancellationToken);
        await WaitForMiddleAsync(Remote, cancellationToken);

        await _server.KillAsync();
        Assert.That(Finished(Remote), Is.Empty, "killed in the middle");
        await _server.StartAgainAsync();
        await WaitAsync(() => File.Exists(PathOf("to-sftp", "done", "large.bin")), "to put the file again", cancellationToken);

        await AssertWholeAsync(Remote, Killed, digest, cancellationToken);
    }

    [Test, Category("Thorough")]
    public async Task File_whose_host_is_killed_in_the_middle_is_put_again_and_nothing_is_left_of_the_first(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(cancellationToken);
        var digest = await DropAsync(PathOf("to-sftp"), "large.bin", Killed, cancellationToken);
        await WaitForMiddleAsync(Remote, cancellationToken);

        _host!.Kill();
        await _host.DisposeAsync();
        Assert.That(Finished(Remote), Is.Empty, "killed in the middle");
        await StartAsync(cancellationToken);
        await WaitAsync(() => File.Exists(PathOf("to-sftp", "done", "large.bin")), "to put the file again", cancellationToken);

        await AssertWholeAsync(Remote, Killed, digest, cancellationToken);
    }

    [Test, Category("Thorough")]
    public async Task File_of_a_server_that_is_killed_in_the_middle_is_taken_again(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        var digest = await DropAsync(_server.At("in"), "large.bin", Killed, cancellationToken);
        await WaitForMiddleAsync(Out, cancellationToken);

        await _server.KillAsync();
        Assert.That(Finished(Out), Is.Empty, "killed in the middle");
        await _server.StartAgainAsync();
        await WaitAsync(() => Finished(Out).Count == 1 && Left() == 0, "to take the file again", cancellationToken);

        await AssertWholeAsync(Out, Killed, digest, cancellationToken);
    }

    private async Task WaitForMiddleAsync(string folder, CancellationToken cancellationToken)
    {
        while (!Unfinished(folder).Any(file => file.Length > Killed / 20)) // it takes seconds
        {
            Assert.That(Finished(folder), Is.Empty, "it was too quick");
            await Task.Delay(TimeSpan.FromMilliseconds(2), cancellationToken);
        }
    }

    private void AssertGrowth(long size, long before)
    {
        var peak = _host!.PeakMemory;
        TestContext.Out.WriteLine($"{size >> 20} MiB, memory {before >> 20} MiB before, {peak >> 20} MiB at its peak");
        Assert.That(peak, Is.LessThan(before + LargestGrowth), "bytes of memory at its peak");
    }

    private static async Task AssertWholeAsync(string folder, long size, string digest, CancellationToken cancellationToken)
    {
        var copy = Finished(folder).MaxBy(file => file.Length)!;
        await using var written = copy.OpenRead();
        Assert.That((copy.Length, await DigestAsync(written, cancellationToken)), Is.EqualTo((size, digest)));
        Assert.That(Unfinished(folder), Is.Empty);
    }

    private static async Task<string> DigestAsync(Stream stream, CancellationToken cancellationToken) =>
        Convert.ToHexStringLower(await SHA256.HashDataAsync(stream, cancellationToken));

    // Under another name first: the endpoint must not see half of it.
    private async Task<string> DropAsync(string folder, string name, long size, CancellationToken cancellationToken)
    {
        var unfinished = PathOf(name);
        await using (var file = File.Create(unfinished))
            await new PatternStream(size).CopyToAsync(file, cancellationToken);
        var digest = await DigestAsync(new PatternStream(size), cancellationToken);
        File.Move(unfinished, Path.Combine(folder, name));
        return digest;
    }

    private async Task<HttpStatusCode> UploadAsync(string path, long size, CancellationToken cancellationToken)
    {
        using var client = new HttpClient { Timeout = Limit };
        using var content = new StreamContent(new PatternStream(size));
        using var response = await client.PostAsync(new Uri(_host!.Public, path), content, cancellationToken);
        return response.StatusCode;
    }

    private Task WaitAsync(Func<bool> condition, string what, CancellationToken cancellationToken) =>
        _host!.WaitAsync(_ => Task.FromResult(condition()), Limit, what, cancellationToken);

    private static List<FileInfo> Finished(string folder) => FilesOf(folder, file => !file.Name.StartsWith('.'));

    private static List<FileInfo> Unfinished(string folder) => FilesOf(folder, file => file.Name.StartsWith('.'));

    private static List<FileInfo> FilesOf(string folder, Func<FileInfo, bool> wanted) =>
        Directory.Exists(folder) ? [.. new DirectoryInfo(folder).GetFiles().Where(wanted)] : [];

    private int Left(string folder = "in") =>
        Directory.GetFiles(_server.At(folder), "*", new EnumerationOptions { RecurseSubdirectories = true, AttributesToSkip = 0 }).Length;

    private string PathOf(params ReadOnlySpan<string> parts) => Path.Combine([_folder.FullName, .. parts]);

    private async Task StartAsync(CancellationToken cancellationToken) =>
        _host = await HostProcess.StartAsync(
            "esb.json",
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["SFTP_KEY"] = _server.PrivateKey,
                ["DOTNET_GCgen0size"] = "0x1000000", // otherwise it grows with the cache of the processor, by more than a body may take
            }
        );
}
