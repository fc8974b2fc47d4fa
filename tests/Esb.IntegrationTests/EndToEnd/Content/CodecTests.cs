using System.IO.Compression;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>Compressed bodies and archives on a whole host, also those that would fill it.</summary>
[CancelAfter(120_000)]
public sealed class CodecTests
{
    private const long LargestGrowth = 96L << 20; // a hundred times what was sent, in a buffer that doubles

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private DirectoryInfo _folder = null!;
    private HostProcess _host = null!;

    private string Files => Path.Combine(_folder.FullName, "files");

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-codecs-");
        string[] codecs = ["gzip", "deflate", "brotli", "base64", "zip"];
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "topics": { "files": {} },
              "endpoints": {
                "archive": { "type": "http-inbound", "path": "/archive", "process": "archive" },
                "nested": { "type": "http-inbound", "path": "/nested", "mode": "request-reply", "process": "nested" },
                {{string.Join(",\n", codecs.SelectMany(codec => new[] { Endpoint("encode", codec), Endpoint("decode", codec) }))}},
                "files": { "type": "file-outbound", "subscribe": ["files.one"], "folder": "files", "fileName": "{header.x-file-name}" }
              },
              "processes": {
                "archive": [
                  { "decode": { "codec": "zip", "entries": true } },
                  { "split": { "entries": true, "steps": [{ "set": { "headers": { "x-file-name": { "property": "split.name" } } } }, { "publish": "files.one" }] } }
                ],
                "nested": [{ "decode": "zip" }, { "decode": "zip" }],
                {{string.Join(",\n", codecs.SelectMany(codec => new[] { Process("encode", codec), Process("decode", codec) }))}}
              }
            }
            """
        );
        _host = await HostProcess.StartAsync("esb.json", _folder.FullName, CancellationToken.None);

        static string Endpoint(string step, string codec) =>
            $$"""
                "{{step}}-{{codec}}": { "type": "http-inbound", "path": "/{{step}}/{{codec}}", "mode": "request-reply", "process": "{{step}}-{{codec}}" }
                """;

        static string Process(string step, string codec) =>
            $$"""
                "{{step}}-{{codec}}": [{ "{{step}}": "{{codec}}" }]
                """;
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("gzip"), TestCase("deflate"), TestCase("brotli"), TestCase("base64"), TestCase("zip")]
    public async Task Body_is_encoded_as_others_read_it_and_decoded_to_the_same_bytes(string codec, CancellationToken cancellationToken)
    {
        var body = new byte[100_000];
        new Random(7).NextBytes(body.AsSpan(50_000)); // half zeros, half noise

        var encoded = await PostAsync($"/encode/{codec}", body, cancellationToken);
        var decoded = await PostAsync($"/decode/{codec}", encoded.Body, cancellationToken);

        Assert.That((encoded.Status, decoded.Status), Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.OK)), _host.Output);
        Assert.That(encoded.Body, Is.Not.EqualTo(body));
        Assert.That(Decode(codec, encoded.Body), Is.EqualTo(body), "what the platform reads");
        Assert.That(decoded.Body, Is.EqualTo(body));
    }

    [Test]
    public async Task Each_file_of_an_archive_is_published_under_its_name(CancellationToken cancellationToken)
    {
        var answer = await PostAsync("/archive", Zip(("a.json", "{}"u8.ToArray()), ("Käse.txt", "Brie"u8.ToArray())), cancellationToken);

        Assert.That(answer.Status, Is.EqualTo(HttpStatusCode.Accepted), answer.Text);
        await _host.WaitForFileAsync(Path.Combine(Files, "a.json"), cancellationToken);
        await _host.WaitForFileAsync(Path.Combine(Files, "Käse.txt"), cancellationToken);
        Assert.That(await File.ReadAllTextAsync(Path.Combine(Files, "Käse.txt"), cancellationToken), Is.EqualTo("Brie"));
    }

    [TestCase("../x.txt"), TestCase("a/../../x.txt"), TestCase("/tmp/x.txt"), TestCase("..\\x.txt")]
    public async Task Archive_with_a_name_that_leaves_it_is_refused_whole(string name, CancellationToken cancellationToken)
    {
        var answer = await PostAsync("/archive", Zip(("good.txt", "good"u8.ToArray()), (name, "evil"u8.ToArray())), cancellationToken);

        Assert.That(answer.Status, Is.EqualTo(HttpStatusCode.UnprocessableEntity), answer.Text);
        Assert.That(answer.Text, Does.Contain("ESB-CODEC-NAME"));
        Assert.That(_folder.GetFiles("*", SearchOption.AllDirectories).Select(file => file.Name), Has.None.Contains("x.txt"));
        Assert.That(File.Exists(Path.Combine(Files, "good.txt")), Is.False, "nothing of it takes effect");
    }

    [TestCase("/decode/gzip"), TestCase("/decode/zip"), TestCase("/archive"), TestCase("/nested")]
    public async Task Bomb_is_refused_before_it_fills_the_memory(string path, CancellationToken cancellationToken)
    {
        var bomb = path == "/decode/gzip" ? Gzip(Zeros(256)) : Zip(("bomb", Zeros(256)));
        var sent = path == "/nested" ? Zip(("bomb.zip", bomb)) : bomb;
        await PostAsync(path, sent.AsSpan(0, 100).ToArray(), cancellationToken);
        var before = _host.PeakMemory;

        var answer = await PostAsync(path, sent, cancellationToken);

        Assert.That(sent, Has.Length.LessThan(1 << 20), "of 256 MiB");
        Assert.That(answer.Status, Is.EqualTo(HttpStatusCode.RequestEntityTooLarge), answer.Text);
        Assert.That(answer.Text, Does.Contain("ESB-CODEC-LIMIT"));
        Assert.That(_host.PeakMemory, Is.LessThan(before + LargestGrowth), "bytes of memory at its peak");
    }

    [TestCase("gzip"), TestCase("deflate"), TestCase("brotli"), TestCase("base64"), TestCase("zip")]
    public async Task Body_that_is_not_encoded_so_is_refused(string codec, CancellationToken cancellationToken)
    {
        var answer = await PostAsync($"/decode/{codec}", "{ \"a\": 1 }"u8.ToArray(), cancellationToken);

        Assert.That(answer.Status, Is.EqualTo(HttpStatusCode.BadRequest), answer.Text);
        Assert.That(answer.Text, Does.Contain("ESB-CODEC-FORMAT"));
    }

    private async Task<(HttpStatusCode Status, byte[] Body, string Text)> PostAsync(
        string path,
        byte[] body,
        CancellationToken cancellationToken
    )
    {
        using var content = new ByteArrayContent(body) { Headers = { ContentType = new MediaTypeHeaderValue("application/octet-stream") } };
        using var response = await _host.Client.PostAsync(new Uri(_host.Public, path), content, cancellationToken);
        var bytes = await response.Content.ReadAsByteArrayAsync(cancellationToken);
        return (response.StatusCode, bytes, Encoding.UTF8.GetString(bytes));
    }

    private static byte[] Decode(string codec, byte[] encoded)
    {
        if (codec == "base64")
            return Convert.FromBase64String(Encoding.ASCII.GetString(encoded));
        using var source = new MemoryStream(encoded);
        using var archive = codec == "zip" ? new ZipArchive(source) : null;
        using Stream stream = codec switch
        {
            "gzip" => new GZipStream(source, CompressionMode.Decompress),
            "deflate" => new ZLibStream(source, CompressionMode.Decompress),
            "brotli" => new BrotliStream(source, CompressionMode.Decompress),
            _ => archive!.Entries.Single().Open(),
        };
        using var decoded = new MemoryStream();
        stream.CopyTo(decoded);
        return decoded.ToArray();
    }

    private static IEnumerable<byte[]> Zeros(int mebibytes) => Enumerable.Repeat(new byte[1 << 20], mebibytes);

    private static byte[] Gzip(IEnumerable<byte[]> pieces)
    {
        using var made = new MemoryStream();
        using (var stream = new GZipStream(made, CompressionLevel.Optimal))
        {
            foreach (var piece in pieces)
                stream.Write(piece);
        }

        return made.ToArray();
    }

    private static byte[] Zip(params (string Name, byte[] Body)[] entries) =>
        Zip([.. entries.Select(entry => (entry.Name, (IEnumerable<byte[]>)[entry.Body]))]);

    private static byte[] Zip(params (string Name, IEnumerable<byte[]> Pieces)[] entries)
    {
        using var made = new MemoryStream();
        using (var archive = new ZipArchive(made, ZipArchiveMode.Create, leaveOpen: true))
        {
            foreach (var (name, pieces) in entries)
            {
                using var entry = archive.CreateEntry(name).Open();
                foreach (var piece in pieces)
                    entry.Write(piece);
            }
        }

        return made.ToArray();
    }
}
