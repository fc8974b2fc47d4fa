using System.Globalization;
using System.Text;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sql;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>Interchanges whose host is killed while it divides them: no item is lost, at most a window is published again at each kill, and
/// none is doubled behind a unique key.</summary>
[CancelAfter(300_000)]
[OwnProcess]
public sealed class SplitKillTests
{
    private const int Window = 256;

    private const int FewItems = 60_000;

    // How large the interchange is that is killed ten times: ESB_SPLIT_ITEMS=400000 is its full size.
    private static readonly int Items = Environment.GetEnvironmentVariable("ESB_SPLIT_ITEMS") is { } items
        ? int.Parse(items, CultureInfo.InvariantCulture)
        : FewItems;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(120) * Math.Max(1, Items / FewItems);

    private string _name = null!;
    private DirectoryInfo _folder = null!;
    private Shop _shop = null!;
    private RunningHost? _host;
    private int _atOnce;

    private string Done => Path.Combine(_folder.FullName, "in", "done");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _name = $"split{Guid.NewGuid():N}"[..14];
        _folder = Directory.CreateTempSubdirectory("esb-split-");
        _folder.CreateSubdirectory("in");
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync(
            "create table items (number int primary key, message uuid not null); create table deliveries (number int not null, message uuid "
                + "not null)"
        );
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "split",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_name}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_name}}" },
              "connections": { "shop": { "provider": "npgsql", "connection": "${env:SHOP}" } },
              "formats": { "rows": { "type": "csv", "columns": { "number": "integer", "text": "string" } } },
              "limits": { "maxBodySize": "64MiB" },
              "topics": { "rows": {} },
              "endpoints": {
                "in": { "type": "file-inbound", "folder": "in", "pattern": "*.csv", "interval": "100ms", "process": "divide" },
                "ledger": {
                  "type": "sql-outbound", "connection": "shop", "subscribe": ["rows.one"], "poolSize": 4, "processingThreads": 4,
                  "execute": "with seen as (insert into deliveries values (@number, @message)) insert into items values (@number, @message) on conflict do nothing",
                  "parameters": { "number": { "jsonpath": "$.number" }, "message": { "message": "id" } }
                }
              },
              "processes": { "divide": [{ "id": "rows", "split": { "format": "rows", "maxConcurrentItems": "${env:CONCURRENT}", "steps": [{ "publish": "rows.one" }] } }] }
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

    [Test, Category("Thorough")]
    public async Task Interchange_is_divided_whole_although_its_host_is_killed_and_changes_no_row_when_it_comes_again(
        CancellationToken cancellationToken
    )
    {
        const int Count = 2_000;
        await DivideAsync(Count, kills: 2, atOnce: 1, cancellationToken);

        File.Move(Path.Combine(Done, "rows.csv"), Path.Combine(_folder.FullName, "in", "again.csv"));
        await WaitForAsync("select count(*) from (select distinct number, message from deliveries) d", 2 * Count, cancellationToken);
        await WaitUntilDoneAsync("again.csv", cancellationToken);

        Assert.That(await CountAsync("select count(*) from items", cancellationToken), Is.EqualTo(Count), "rows, as before");
        await AssertEndedAsync(interchanges: 2, Count, cancellationToken);
    }

    [Test, Category("Thorough"), CancelAfter(3_600_000)]
    public Task Large_interchange_is_divided_whole_although_its_host_is_killed_ten_times(CancellationToken cancellationToken) =>
        DivideAsync(Items, kills: 10, atOnce: 256, cancellationToken);

    private async Task DivideAsync(int items, int kills, int atOnce, CancellationToken cancellationToken)
    {
        _atOnce = atOnce;
        await DropAsync(items, cancellationToken);
        for (var kill = 1; kill <= kills; kill++)
        {
            await StartAsync(cancellationToken);
            await WaitForAsync("select count(distinct number) from deliveries", (long)items * kill / (kills + 1), cancellationToken);
            _host!.Kill();
            await _host.DisposeAsync();
        }

        Assert.That(await CountAsync("select count(*) from items", cancellationToken), Is.LessThan(items), "killed in the middle");
        await StartAsync(cancellationToken);
        await WaitForAsync("select count(*) from items", items, cancellationToken);
        await WaitUntilDoneAsync("rows.csv", cancellationToken);

        await AssertEndedAsync(interchanges: 1, items, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(await CountAsync("select count(*) from items", cancellationToken), Is.EqualTo(items), "lost or too many");
            Assert.That(
                await CountAsync(
                    "select count(*) from (select number from deliveries group by number having count(distinct message) > 1) d",
                    cancellationToken
                ),
                Is.Zero,
                "published again under another id"
            );
            Assert.That(
                await CountAsync("select count(*) from deliveries", cancellationToken),
                Is.LessThanOrEqualTo(items + (kills * (2L * Window + atOnce))),
                "a window and what ran at once is published again, and what was in delivery is delivered again"
            );
        }
    }

    private async Task AssertEndedAsync(int interchanges, int items, CancellationToken cancellationToken)
    {
        var ended = new List<(string?, string?, string?)>();
        await _host!.WaitAsync(
            async token => (ended = await EndedAsync(token)).Count >= interchanges,
            Limit,
            $"to record the ends of {interchanges} interchanges",
            cancellationToken
        );

        Assert.That(
            ended,
            Is.EqualTo(Enumerable.Repeat((items.ToString(CultureInfo.InvariantCulture), "0", (string?)null), interchanges)),
            "items, failed, code"
        );
    }

    // A host that is killed behind the fact records it again.
    private async Task<List<(string?, string?, string?)>> EndedAsync(CancellationToken cancellationToken) =>
        [
            .. (await _host!.AskAsync("/api/messages?kind=recorded&endpoint=in", cancellationToken))
                .GetProperty("items")
                .EnumerateArray()
                .Where(fact => fact.GetProperty("name").GetString() == "interchange-ended")
                .DistinctBy(fact => fact.GetProperty("messageId").GetGuid())
                .Select(fact =>
                    (
                        fact.GetProperty("fields").GetProperty("items").GetString(),
                        fact.GetProperty("fields").GetProperty("failed").GetString(),
                        fact.TryGetProperty("code", out var code) ? code.GetString() : null
                    )
                ),
        ];

    private Task WaitUntilDoneAsync(string file, CancellationToken cancellationToken) =>
        _host!.WaitAsync(_ => Task.FromResult(File.Exists(Path.Combine(Done, file))), Limit, $"to put {file} away", cancellationToken);

    // Under another name first: the endpoint must not see half of it.
    private async Task DropAsync(int items, CancellationToken cancellationToken)
    {
        var text = new StringBuilder("number,text\n");
        for (var number = 0; number < items; number++)
            text.Append(CultureInfo.InvariantCulture, $"{number},item {number}\n");
        var unfinished = Path.Combine(_folder.FullName, "rows.csv");
        await File.WriteAllTextAsync(unfinished, text.ToString(), cancellationToken);
        File.Move(unfinished, Path.Combine(_folder.FullName, "in", "rows.csv"));
    }

    private async Task StartAsync(CancellationToken cancellationToken) =>
        _host = await RunningHost.StartAsync(
            "esb.json",
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB_POSTGRES"] = Servers.Postgres,
                ["SHOP"] = _shop.ConnectionString,
                ["CONCURRENT"] = _atOnce.ToString(CultureInfo.InvariantCulture),
            }
        );

    private Task WaitForAsync(string query, long count, CancellationToken cancellationToken) =>
        _host!.WaitAsync(async token => await CountAsync(query, token) >= count, Limit, $"to bring {query} to {count}", cancellationToken);

    private async Task<long> CountAsync(string query, CancellationToken cancellationToken) =>
        (await _shop.ReadAsync<long>(query, cancellationToken))[0];
}
