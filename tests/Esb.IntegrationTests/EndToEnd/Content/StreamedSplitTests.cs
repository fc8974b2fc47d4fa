using System.Globalization;
using System.Text;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sql;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>Interchanges of more than 100 MB on a host that takes bodies of 4 MiB: they are divided as they are read.</summary>
[CancelAfter(300_000)]
public sealed class StreamedSplitTests
{
    private const int Published = 400;
    private const int Each = 100; // one item of so many is published
    private const long LargestGrowth = 64L << 20;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(150);

    private readonly string _name = $"stream{Guid.NewGuid():N}"[..15];
    private DirectoryInfo _folder = null!;
    private Shop _shop = null!;
    private HostProcess? _host;

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-stream-");
        _folder.CreateSubdirectory("in");
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync("create table items (number int primary key); create table deliveries (number int not null)");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "stream",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_name}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_name}}" },
              "connections": { "shop": { "provider": "npgsql", "connection": "${env:SHOP}" } },
              "formats": { "csv": { "type": "csv" }, "lines": { "type": "json-lines" } },
              "topics": { "rows": {} },
              "endpoints": {
                {{Inbound("csv")}}, {{Inbound("jsonl")}}, {{Inbound("xml")}},
                "ledger": {
                  "type": "sql-outbound", "connection": "shop", "subscribe": ["rows.one"],
                  "execute": "with seen as (insert into deliveries values (@number)) insert into items values (@number) on conflict do nothing",
                  "parameters": { "number": { "header": "x-number" } }
                }
              },
              "processes": {
                "csv": [{ "id": "rows", "split": { "format": "csv", "steps": [{ "filter": { "jsonpath": "$.pick", "equals": "yes" } }, {{Publish(
                "jsonpath",
                "$.number"
            )}}] } }],
                "jsonl": [{ "id": "rows", "split": { "format": "lines", "steps": [{ "filter": { "jsonpath": "$.pick", "equals": "yes" } }, {{Publish(
                "jsonpath",
                "$.number"
            )}}] } }],
                "xml": [
                  { "id": "rows", "split": { "xpath": "/rows/row", "steps": [{ "filter": { "xpath": "/row/@pick", "equals": "yes" } }, {{Publish(
                "xpath",
                "/row/@number"
            )}}] } },
                  { "log": "{property.split.items} items" }
                ]
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
        await _shop.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("csv", "number,pick,text\n", "{0},{1},{2}\n", "")]
    [TestCase("jsonl", "", "{{\"number\":{0},\"pick\":\"{1}\",\"text\":\"{2}\"}}\n", "", Category = "Thorough")]
    [TestCase("xml", "<rows>", "<row number=\"{0}\" pick=\"{1}\">{2}</row>\n", "</rows>", Category = "Thorough")]
    [Property("Case", "FLT-14")]
    public async Task Interchange_larger_than_the_memory_it_takes_is_divided_whole_over_a_kill(
        string type,
        string head,
        string row,
        string tail,
        CancellationToken cancellationToken
    )
    {
        await StartAsync(cancellationToken);
        var before = _host!.PeakMemory;
        var size = await DropAsync(type, head, row, tail, cancellationToken);
        await WaitForAsync("select count(*) from items", Published / 3, cancellationToken);
        _host!.Kill();
        await _host.DisposeAsync();
        Assert.That(await CountAsync("select count(*) from items", cancellationToken), Is.LessThan(Published), "killed in the middle");

        await StartAsync(cancellationToken);
        await WaitForAsync("select count(*) from items", Published, cancellationToken);
        await _host.WaitAsync(
            _ => Task.FromResult(File.Exists(Path.Combine(_folder.FullName, "in", "done", $"rows.{type}"))),
            Limit,
            "to put the file away",
            cancellationToken
        );

        TestContext.Out.WriteLine($"{size >> 20} MiB, memory {before >> 20} MiB before, {_host.PeakMemory >> 20} MiB at its peak");
        var deliveries = await CountAsync("select count(*) from deliveries", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(size, Is.GreaterThan(100L << 20));
            Assert.That(_host.PeakMemory, Is.LessThan(before + LargestGrowth), "bytes of memory at its peak");
            Assert.That(await CountAsync("select count(*) from items", cancellationToken), Is.EqualTo(Published));
            Assert.That(deliveries, Is.LessThanOrEqualTo(Published + 256), "what was published again is within a window");
        }
    }

    [Test, Category("Thorough"), Property("Case", "FLT-07")]
    public async Task Line_of_a_hundred_megabytes_without_an_end_is_refused_and_the_rows_before_stand(CancellationToken cancellationToken)
    {
        var (unfinished, error) = (Path.Combine(_folder.FullName, "line.csv"), Path.Combine(_folder.FullName, "in", "error"));
        await using (var writer = new StreamWriter(unfinished))
        {
            await writer.WriteAsync("number,pick,text\n1,yes,short\n2,yes,");
            var piece = new string('x', 1 << 20);
            for (var written = 0; written < 100; written++)
                await writer.WriteAsync(piece.AsMemory(), cancellationToken);
        }

        await StartAsync(cancellationToken);
        var before = _host!.PeakMemory;
        File.Move(unfinished, Path.Combine(_folder.FullName, "in", "line.csv"));
        await _host.WaitAsync(
            _ => Task.FromResult(Directory.Exists(error) && Directory.GetFiles(error).Length == 2),
            Limit,
            "to refuse the file",
            cancellationToken
        );
        await WaitForAsync("select count(*) from items", 1, cancellationToken);
        var ended = new List<string?>();
        await _host.WaitAsync(
            async token =>
                (
                    ended = [
                        .. (await _host.AskAsync("/api/messages?kind=recorded&endpoint=csv", token))
                            .GetProperty("items")
                            .EnumerateArray()
                            .Where(fact => fact.GetProperty("name").GetString() == "interchange-ended")
                            .Where(fact => fact.TryGetProperty("code", out var code) && code.GetString() == "ESB-FLAT-LINE")
                            .Select(fact => fact.GetProperty("fields"))
                            .Select(fields => $"{fields.GetProperty("items")} {fields.GetProperty("failed")}"),
                    ]
                ).Count > 0,
            Limit,
            "to record the end of the interchange",
            cancellationToken
        );

        var reason = await File.ReadAllTextAsync(
            new DirectoryInfo(error).GetFiles().MinBy(file => file.Length)!.FullName,
            cancellationToken
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That(reason, Does.Contain("ESB-FLAT-LINE").And.Contain("line 3"));
            Assert.That(ended, Is.EqualTo(new[] { "1 0" }));
            Assert.That(await CountAsync("select count(*) from items", cancellationToken), Is.EqualTo(1));
            Assert.That(_host.PeakMemory, Is.LessThan(before + LargestGrowth), "bytes of memory at its peak");
        }
    }

    [Test]
    public async Task Steps_that_need_the_body_in_memory_are_refused(CancellationToken cancellationToken)
    {
        var path = Path.Combine(_folder.FullName, "esb.json");
        var text = await File.ReadAllTextAsync(path, cancellationToken);
        await File.WriteAllTextAsync(
            path,
            text.Replace(
                    "\"csv\": [",
                    "\"csv\": [{ \"publish\": \"rows.all\" }, { \"filter\": { \"jsonpath\": \"$.a\" } }, ",
                    StringComparison.Ordinal
                )
                .Replace("/rows/row\"", "//row\"", StringComparison.Ordinal),
            cancellationToken
        );

        var (code, output, error) = await CommandLine.RunAsync(_folder.FullName, Variables, cancellationToken, "validate", "esb.json");
        output += error;

        Assert.That(code, Is.Not.Zero, output);
        Assert.That(
            output,
            Does.Contain("bodies that are published as streams are kept in store.claims")
                .And.Contain("the body is not in memory, since 'csv' streams it")
                .And.Contain("'xml' streams its bodies: expected a format of records")
        );
    }

    private IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string>
        {
            ["ESB_RABBITMQ"] = Servers.RabbitMq,
            ["ESB_POSTGRES"] = Servers.Postgres,
            ["SHOP"] = _shop.ConnectionString,
            // Otherwise the collector waits until the cache of the processor is full, which has 300 MB on some machines.
            ["DOTNET_GCgen0size"] = "0x1000000",
        };

    private static string Inbound(string type) =>
        $$"""
            "{{type}}": { "type": "file-inbound", "folder": "in", "pattern": "*.{{type}}", "interval": "100ms", "process": "{{type}}", "transfer": "streamed", "maxBodySize": "4GiB" }
            """;

    private static string Publish(string language, string number) =>
        $$"""
            { "set": { "headers": { "x-number": { "{{language}}": "{{number}}" } } } }, { "publish": "rows.one" }
            """;

    // Under another name first: the endpoint must not see half of it.
    private async Task<long> DropAsync(string type, string head, string row, string tail, CancellationToken cancellationToken)
    {
        var (format, filling) = (CompositeFormat.Parse(row), new string('x', 3_000));
        var unfinished = Path.Combine(_folder.FullName, $"rows.{type}");
        await using (var writer = new StreamWriter(unfinished))
        {
            await writer.WriteAsync(head);
            for (var number = 0; number < Published * Each; number++)
                await writer.WriteAsync(
                    string.Format(CultureInfo.InvariantCulture, format, number, number % Each == 0 ? "yes" : "no", filling)
                );
            await writer.WriteAsync(tail.AsMemory(), cancellationToken);
        }

        File.Move(unfinished, Path.Combine(_folder.FullName, "in", $"rows.{type}"));
        return new FileInfo(Path.Combine(_folder.FullName, "in", $"rows.{type}")).Length;
    }

    private async Task StartAsync(CancellationToken cancellationToken) =>
        _host = await HostProcess.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);

    private Task WaitForAsync(string query, long count, CancellationToken cancellationToken) =>
        _host!.WaitAsync(async token => await CountAsync(query, token) >= count, Limit, $"to bring {query} to {count}", cancellationToken);

    private async Task<long> CountAsync(string query, CancellationToken cancellationToken) =>
        (await _shop.ReadAsync<long>(query, cancellationToken))[0];
}
