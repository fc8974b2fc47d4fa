using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>Bodies that are larger than a host takes into memory, published to a topic: they are kept in <c>store.claims</c>, and read
/// from there.</summary>
[CancelAfter(600_000)]
public sealed class StreamedPublishTests
{
    private const long Smoke = 96L << 20;
    private const long Large = 1L << 30;
    private const long LargestGrowth = 32L << 20;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(300);

    private string _name = null!;
    private DirectoryInfo _folder = null!;
    private HostProcess? _host;

    private string Out => PathOf("out");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _name = $"publish{Guid.NewGuid():N}"[..15];
        _folder = Directory.CreateTempSubdirectory("esb-publish-");
        _folder.CreateSubdirectory("in");
        await File.WriteAllTextAsync(
            PathOf("esb.json"),
            $$"""
            {
              "name": "publish",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_name}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_name}}", "claims": "claims" },
              "limits": { "maxBodySize": "4MiB" },
              "topics": { "files": {} },
              "endpoints": {
                "drop": { "type": "file-inbound", "folder": "in", "pattern": "*.bin", "interval": "100ms", "publish": "files.in", "transfer": "streamed", "maxBodySize": "4GiB" },
                "upload": { "type": "http-inbound", "path": "/upload", "process": "publish", "transfer": "streamed", "maxBodySize": "4GiB" },
                "fixed": { "type": "http-inbound", "path": "/fixed", "publish": "files.fixed", "transfer": "streamed", "maxBodySize": "4GiB" },
                "other": { "type": "http-inbound", "path": "/other", "publish": "files.other", "transfer": "streamed", "maxBodySize": "4GiB" },
                "out": { "type": "file-outbound", "subscribe": ["files.in"], "folder": "out", "fileName": "{message.id}.bin", "timeout": "5m" },
                "one": { "type": "file-outbound", "subscribe": ["files.fixed"], "folder": "one", "fileName": "same.bin", "timeout": "5m" },
                "reader": { "type": "process", "subscribe": ["files.other"], "process": "read" }
              },
              "processes": {
                "publish": [{ "log": "upload" }, { "publish": "files.in" }],
                "read": [{ "set": { "properties": { "body": { "message": "body" } } } }]
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
        _folder.Delete(recursive: true);
    }

    [TestCase(Smoke), TestCase(Large, Category = "Thorough")]
    public async Task File_reaches_its_subscriber_whole_without_being_held_in_memory(long size, CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await DropAsync("warm.bin", 8 << 20, cancellationToken);
        await WaitAsync(() => Written(Out).Count == 1, "to write the first file", cancellationToken);
        var before = _host!.PeakMemory;

        var digest = await DropAsync("large.bin", size, cancellationToken);
        await WaitAsync(
            () => Written(Out).Count == 2 && File.Exists(PathOf("in", "done", "large.bin")),
            "to write the large file",
            cancellationToken
        );

        var peak = _host.PeakMemory;
        TestContext.Out.WriteLine($"{size >> 20} MiB, memory {before >> 20} MiB before, {peak >> 20} MiB at its peak");
        await AssertWrittenAsync(Out, size, digest, cancellationToken);
        Assert.That(peak, Is.LessThan(before + LargestGrowth), "bytes of memory at its peak");
        Assert.That(Kept(), Has.Count.EqualTo(2), "in store.claims");
    }

    [
        TestCase(64L << 20, true, Category = "Thorough"),
        TestCase(64L << 20, false, Category = "Thorough"),
        TestCase(1000, false, Category = "Thorough")
    ]
    public async Task Upload_reaches_its_subscriber_whole_announced_or_not(long size, bool announced, CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        Assert.That(await UploadAsync("upload", size, cancellationToken, announced), Is.EqualTo(HttpStatusCode.Accepted));
        await WaitAsync(() => Written(Out).Count == 1, "to write the file", cancellationToken);

        await AssertWrittenAsync(Out, size, await DigestAsync(new PatternStream(size), cancellationToken), cancellationToken);
    }

    [Test, Category("Thorough")]
    public async Task Dead_letter_keeps_the_reference_and_its_replay_arrives_whole(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        Directory.CreateDirectory(PathOf("one"));
        await File.WriteAllTextAsync(PathOf("one", "same.bin"), "another file", cancellationToken);

        await UploadAsync("fixed", Smoke, cancellationToken);
        var letter = await WaitForLetterAsync("one", cancellationToken);
        File.Delete(PathOf("one", "same.bin"));
        await ReplayAsync("one", cancellationToken);
        await WaitAsync(() => Written(PathOf("one")).Count == 1, "to write the file", cancellationToken);

        Assert.That(letter.GetProperty("code").GetString(), Is.EqualTo("ESB-FILE-EXISTS"));
        await AssertWrittenAsync(PathOf("one"), Smoke, await DigestAsync(new PatternStream(Smoke), cancellationToken), cancellationToken);
    }

    [Test, Category("Thorough")]
    public async Task Subscriber_that_needs_the_body_in_memory_gets_no_large_one(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        await UploadAsync("other", Smoke, cancellationToken);
        var letter = await WaitForLetterAsync("reader", cancellationToken);

        Assert.That(letter.GetProperty("code").GetString(), Is.EqualTo("ESB-BODY-SIZE"));
    }

    [Test, Category("Thorough")]
    public async Task Host_that_is_killed_in_the_middle_publishes_the_file_once(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        var digest = await DropAsync("large.bin", Large, cancellationToken);
        while (!Unfinished().Any(file => file.Length > Large / 20)) // it takes seconds
        {
            Assert.That(Written(Out), Is.Empty, "it was too quick");
            await Task.Delay(TimeSpan.FromMilliseconds(2), cancellationToken);
        }

        _host!.Kill();
        await _host.DisposeAsync();
        Assert.That(Kept(), Is.Empty, "killed in the middle");
        await StartAsync(cancellationToken);
        await WaitAsync(
            () => Written(Out).Count == 1 && File.Exists(PathOf("in", "done", "large.bin")),
            "to write the file",
            cancellationToken
        );

        await AssertWrittenAsync(Out, Large, digest, cancellationToken);
        Assert.That(Kept(), Has.Count.EqualTo(1));
    }

    private async Task<JsonElement> WaitForLetterAsync(string endpoint, CancellationToken cancellationToken)
    {
        var found = default(JsonElement);
        await _host!.WaitAsync(
            async token =>
            {
                var letters = (await _host.AskAsync($"/api/dead-letters?endpoint={endpoint}", token)).GetProperty("items");
                if (letters.GetArrayLength() > 0)
                    found = letters[0];
                return letters.GetArrayLength() == 1;
            },
            Limit,
            "to keep a dead letter",
            cancellationToken
        );
        return found;
    }

    private async Task ReplayAsync(string endpoint, CancellationToken cancellationToken)
    {
        var key = await File.ReadAllTextAsync(PathOf("esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host!.Management, "/api/replays"))
        {
            Content = new StringContent($$"""{ "filter": { "endpoint": "{{endpoint}}" } }""", Encoding.UTF8, "application/json"),
        };
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
        using var response = await _host.Client.SendAsync(request, cancellationToken);
        Assert.That(response.IsSuccessStatusCode, Is.True, await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private static async Task AssertWrittenAsync(string folder, long size, string digest, CancellationToken cancellationToken)
    {
        var copy = Written(folder).MaxBy(file => file.Length)!;
        await using var written = copy.OpenRead();
        Assert.That((copy.Length, await DigestAsync(written, cancellationToken)), Is.EqualTo((size, digest)));
    }

    private static async Task<string> DigestAsync(Stream stream, CancellationToken cancellationToken) =>
        Convert.ToHexStringLower(await SHA256.HashDataAsync(stream, cancellationToken));

    // Under another name first: the endpoint must not see half of it.
    private async Task<string> DropAsync(string name, long size, CancellationToken cancellationToken)
    {
        await using (var file = File.Create(PathOf(name)))
            await new PatternStream(size).CopyToAsync(file, cancellationToken);
        var digest = await DigestAsync(new PatternStream(size), cancellationToken);
        File.Move(PathOf(name), PathOf("in", name));
        return digest;
    }

    private async Task<HttpStatusCode> UploadAsync(string path, long size, CancellationToken cancellationToken, bool announced = true)
    {
        using var client = new HttpClient { Timeout = Limit };
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host!.Public, path))
        {
            Content = new StreamContent(new PatternStream(size)),
        };
        request.Headers.TransferEncodingChunked = !announced;
        request.Content.Headers.ContentLength = announced ? size : null;
        using var response = await client.SendAsync(request, cancellationToken);
        return response.StatusCode;
    }

    private Task WaitAsync(Func<bool> condition, string what, CancellationToken cancellationToken) =>
        _host!.WaitAsync(_ => Task.FromResult(condition()), Limit, what, cancellationToken);

    private static List<FileInfo> Written(string folder) =>
        Directory.Exists(folder) ? [.. new DirectoryInfo(folder).GetFiles().Where(file => !file.Name.StartsWith('.'))] : [];

    private List<FileInfo> Kept() => ClaimsOf("*.stream");

    private List<FileInfo> Unfinished() => ClaimsOf("*.part");

    private List<FileInfo> ClaimsOf(string pattern) =>
        Directory.Exists(PathOf("claims")) ? [.. new DirectoryInfo(PathOf("claims")).GetFiles(pattern, SearchOption.AllDirectories)] : [];

    private string PathOf(params ReadOnlySpan<string> parts) => Path.Combine([_folder.FullName, .. parts]);

    private async Task StartAsync(CancellationToken cancellationToken) =>
        _host = await HostProcess.StartAsync(
            "esb.json",
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_POSTGRES"] = Servers.Postgres }
        );
}
