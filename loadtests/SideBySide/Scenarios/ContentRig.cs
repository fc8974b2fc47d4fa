using SideBySide.Content;
using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;
using SideBySide.Topics;

namespace SideBySide.Scenarios;

/// <summary>S8: what reads and changes content, and interchanges that are divided. S11: bodies of 4 GiB.</summary>
/// <param name="isQuick">Whether interchanges and files are small.</param>
internal sealed class ContentRig(Surroundings surroundings, TestServers servers, bool isQuick) : IRig
{
    private const string Prefix = "content";
    private const string SplitSettings = "flat file of 150-byte records, streamed, each published persistent and confirmed, facts recorded";

    private int Records => isQuick ? 20_000 : 400_000;

    public IReadOnlyList<string> Scenarios { get; } = ["S8", "S11"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var folder = surroundings.Folder("content");
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using (var host = await topics.HostAsync("content", Prefix, [], cancellationToken, [new("CONTENT", folder)]))
        {
            if (wanted.Contains("S11"))
                await HoldFilesAsync(host, folder, hold, cancellationToken);
            if (wanted.Contains("S8"))
                await HoldMimeAsync(host, hold, cancellationToken);
        }

        if (!wanted.Contains("S8"))
            return;
        await HoldSplitsAsync(topics, folder, hold, cancellationToken);
        await HoldCostsAsync(hold);
    }

    private async Task HoldFilesAsync(EsbHost host, string folder, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var www = Directory.CreateDirectory(Path.Combine(folder, "nginx", "www")).FullName;
        var source = Path.Combine(www, "source.bin");
        await WriteAsync(source, isQuick ? 256L << 20 : 4L << 30, cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(www, "buy-1K.xml"), "<buy/>", cancellationToken); // asked for to see that it runs
        await using var nginx = await Side.TryAsync(
            "curl && sync",
            () => NginxServer.StartBackendAsync(surroundings, Path.GetDirectoryName(www)!, cancellationToken)
        );
        var copy = new CopyTarget(source, folder);
        var (ours, uploaded) = (
            new StreamedTarget(host, source, folder, isUpload: false),
            new StreamedTarget(host, source, folder, isUpload: true)
        );
        var size = isQuick ? "256 MiB" : "4 GiB";
        await hold(new Contest("S11, file to file", [new("S11", $"{size}, file to file by call, MB", ours, [copy], Goal.Ratio(0.9))]));
        var curl = nginx.Target(server => new CurlTarget(source, folder, server));
        await hold(new Contest("S11, HTTP to file", [new("S11", $"{size}, HTTP to file, MB", uploaded, [curl], Goal.Ratio(0.8))]));
        File.Delete(source);
    }

    private async Task HoldMimeAsync(EsbHost host, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var body = Path.Combine(surroundings.Folder("content-mime"), "body.eml");
        var part = new string('x', 1_900);
        await File.WriteAllTextAsync(
            body,
            $"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n{part}\r\n"
                + "--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nattached\r\n--b--\r\n",
            cancellationToken
        );
        var request = new WrkRequest($"{host.Url}/mime", body, "message/rfc822", answer => answer.Length > part.Length ? null : "too short")
        {
            Pattern = ".+",
        };
        var ours = new WrkTarget(
            "MIME by HTTP",
            $"{host.Collector} collector; decoded and encoded again, 2 KB, two parts, audit on; {WrkTarget.Connections} callers",
            request,
            Meter.Of(host),
            surroundings
        );
        await hold(new Contest("S8, MIME", [new("S8", "MIME decoded and encoded, by HTTP", ours, [], Goal.Rate(5_000))]));
    }

    private async Task HoldSplitsAsync(TopicServers topics, string folder, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        foreach (var isQuorum in new[] { false, true })
        {
            var kind = isQuorum ? "quorum" : "classic";
            await using var host = await topics.HostAsync("content", $"content-{kind}", [], cancellationToken, [new("CONTENT", folder)]);
            await using var counter = await PublishedCounter.StartAsync(topics, $"content-{kind}", cancellationToken, isQuorum);
            var divided = new PublishedSplitTarget(
                $"split, {kind}",
                $"{SplitSettings}, one {kind} queue",
                host,
                Path.Combine(folder, "divide"),
                Records,
                counter
            );
            var goal = isQuorum ? null : Goal.Ratio(0.65);
            await hold(
                new Contest(
                    $"S8, split, {kind}",
                    [new("S8", $"{Records:#,0} records published, {kind}", divided, [Perf(topics, isQuorum)], goal)]
                )
            );
            if (isQuorum)
                continue;
            var inserted = new InsertedSplitTarget(
                "split and insert",
                $"{SplitSettings}, inserted in batches as they come, classic queue",
                host,
                Path.Combine(folder, "insert"),
                Records,
                topics.Database
            );
            await hold(
                new Contest(
                    "S8, split and insert",
                    [new("S8", $"{Records:#,0} records published and inserted", inserted, [], Goal.Rate(400_000 / 60.0))]
                )
            );
        }
    }

    private async Task HoldCostsAsync(Func<Contest, Task> hold)
    {
        var costs = new ContentCosts(surroundings);
        var rows = new List<Row>
        {
            new("S8", "JSON Schema, 10 KB order, MB", Cost("JSON Schema"), [], Goal.Rate(150)),
            new("S8", "CSV divided into fields, MB", Cost("CSV parsed"), [], Goal.Rate(300)),
            new("S8", "CSV of typed columns parsed into JSON, MB", Cost("CSV into JSON"), [], Goal.Rate(300)),
            new("S8", "flat file parsed into JSON, MB", Cost("flat file into JSON"), [], Goal.Rate(150)),
            new("S8", "flat file with optional fields parsed into JSON, MB", Cost("flat file with optional fields into JSON"), [], null),
            new("S8", "S/MIME, signed and encrypted, 2 KB", Cost("S/MIME signed and encrypted, 2 KB"), [], Goal.Rate(800)),
            new("S8", "S/MIME, decrypted and verified, 2 KB", Cost("S/MIME decrypted and verified, 2 KB"), [], Goal.Rate(800)),
            new("S8", "S/MIME, signed, 2 KB", Cost("S/MIME signed, 2 KB"), [], null),
            new("S8", "S/MIME, verified, 2 KB", Cost("S/MIME verified, 2 KB"), [], null),
            new("S8", "S/MIME, verified, party by certificate, 2 KB", Cost("S/MIME verified, party by certificate, 2 KB"), [], null),
        };
        foreach (var shape in new[] { "1 fields", "10 fields", "100 fields", "1000 fields", "2 levels", "20 levels", "60 levels" })
            rows.Add(new("S8", $"JSON Schema, {shape}", Cost($"JSON Schema, {shape}"), [], null));
        foreach (var size in new[] { "1 KB", "10 KB", "100 KB" })
            rows.Add(new("S8", $"JavaScript map, {size}", Cost($"JavaScript, {size}"), [Cost($"XSLT, streamed, {size}")], Goal.Ratio(0.2)));
        await hold(new Contest("S8, in the process", rows));

        CostTarget Cost(string name) => new(name, costs);
    }

    private ITarget Perf(TopicServers topics, bool isQuorum) =>
        surroundings.Peer("bin/perf-test.jar") is { } jar && Surroundings.HasProgram("java")
            ? new PerfTestTarget(jar, topics.Broker) { Bytes = Interchange.RecordBytes, IsQuorum = isQuorum }
            : new MissingTarget("PerfTest", "PerfTest or Java is missing");

    private static async Task WriteAsync(string path, long bytes, CancellationToken cancellationToken)
    {
        var block = new byte[1 << 20];
        new Random(1).NextBytes(block);
        await using var file = File.Create(path);
        for (var written = 0L; written < bytes; written += block.Length)
        {
            BitConverter.TryWriteBytes(block, written);
            await file.WriteAsync(block, cancellationToken);
        }
    }
}
