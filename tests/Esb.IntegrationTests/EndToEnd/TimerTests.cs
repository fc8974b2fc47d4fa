using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>A timer on a host and on two hosts of one farm: each second is one message, also when the host that fires is killed.</summary>
[CancelAfter(180_000)]
public sealed class TimerTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60); // a lease lasts 10 s

    private readonly string _prefix = $"test-{Guid.NewGuid():N}";
    private readonly List<RunningHost> _hosts = [];
    private DirectoryInfo _folder = null!;
    private Shop _shop = null!;

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-timer-");
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync("create table ticks (id uuid not null, due timestamptz not null)");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "timer",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_prefix.Replace('-', '_')}}" },
              "connections": { "shop": { "provider": "npgsql", "connection": "${env:SHOP}" } },
              "topics": { "ticks": {} },
              "endpoints": {
                "every-second": { "type": "timer-inbound", "cron": "* * * * * *", "missed": "all", "body": { "template": "{property.timer.due}" }, "publish": "ticks.second" },
                "ledger": { "type": "sql-outbound", "connection": "shop", "subscribe": ["ticks.#"], "execute": "insert into ticks values (@id, @due)", "once": true,
                  "parameters": { "id": { "message": "id" }, "due": { "message": "body" } } }
              }
            }
            """
        );
    }

    [TearDown]
    public async Task StopHosts()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        await _shop.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Each_second_is_one_message_with_its_time(CancellationToken cancellationToken)
    {
        await StartAsync("a", cancellationToken);

        await WaitForTicksAsync(2, cancellationToken);

        Assert.That(
            await _shop.ReadAsync<bool>(
                "select count(*) = count(distinct due) and count(*) = count(distinct id) and bool_and(due = date_trunc('second', due)) "
                    + "from ticks",
                cancellationToken
            ),
            Is.EqualTo([true])
        );
    }

    [Test, Category("Faults"), Category("WaitsLong")]
    public async Task Each_second_is_one_message_of_the_farm_also_when_the_host_that_fires_is_killed(CancellationToken cancellationToken)
    {
        await StartAsync("a", cancellationToken);
        await StartAsync("b", cancellationToken);
        await WaitForTicksAsync(5, cancellationToken);
        var states = await Task.WhenAll(_hosts.Select(host => StateAsync(host, cancellationToken)));
        var firing = _hosts[Array.IndexOf(states, "running")];
        firing.Kill();
        _hosts.Remove(firing);
        await WaitForTicksAsync(25, cancellationToken);

        Assert.That(states, Is.EquivalentTo(new[] { "running", "standby" }));
        Assert.That(
            await _shop.ReadAsync<long>("select count(distinct due) from ticks", cancellationToken),
            Is.EqualTo(
                await _shop.ReadAsync<long>(
                    "select 1 + round(extract(epoch from max(due) - min(due)))::bigint from ticks",
                    cancellationToken
                )
            ),
            "no second is left out"
        );
        Assert.That(
            await _shop.ReadAsync<long>("select count(distinct id) - count(distinct due) from ticks", cancellationToken),
            Is.EqualTo([0]),
            "a second has one id"
        );
        Assert.That(
            await _shop.ReadAsync<long>("select count(*) - count(distinct due) from ticks", cancellationToken),
            Is.EqualTo([0]),
            "no second comes twice: a tick that was in hand at the kill, and comes again, has its id"
        );
    }

    private async Task StartAsync(string name, CancellationToken cancellationToken) =>
        _hosts.Add(
            await RunningHost.StartAsync(
                Path.Combine(_folder.FullName, "esb.json"),
                _folder.CreateSubdirectory(name).FullName,
                cancellationToken,
                new Dictionary<string, string>
                {
                    ["ESB_RABBITMQ"] = Servers.RabbitMq,
                    ["ESB_POSTGRES"] = Servers.Postgres,
                    ["SHOP"] = _shop.ConnectionString,
                }
            )
        );

    private Task WaitForTicksAsync(int count, CancellationToken cancellationToken) =>
        _hosts[^1]
            .WaitAsync(
                async token => (await _shop.ReadAsync<long>("select count(distinct due) from ticks", token))[0] >= count,
                Limit,
                $"to fire {count} ticks",
                cancellationToken
            );

    private static async Task<string?> StateAsync(RunningHost host, CancellationToken cancellationToken)
    {
        var endpoints = (await host.AskAsync("/api/endpoints", cancellationToken)).GetProperty("items").EnumerateArray();
        return endpoints.Single(endpoint => endpoint.GetProperty("name").GetString() == "every-second").GetProperty("state").GetString();
    }
}
