using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Two hosts go on with another configuration again and again, one thing changed at a time, each fifth time refused, under
/// load.</summary>
[NonParallelizable, Category("Waits"), Property("Case", "T-CFG-1")]
public sealed class ReloadTests
{
    [Test, Category("FaultsSmoke"), CancelAfter(180_000)]
    public Task Smoke(CancellationToken cancellationToken) => RunAsync(messages: 3_000, rate: 150, reloads: 20, kills: 0, cancellationToken);

    [Test, Category("Faults"), CancelAfter(900_000)]
    public Task Full(CancellationToken cancellationToken) => RunAsync(messages: 30_000, rate: 200, reloads: 200, kills: 0, cancellationToken);

    [Test, Category("Faults"), CancelAfter(900_000)]
    public Task While_hosts_die(CancellationToken cancellationToken) => RunAsync(messages: 15_000, rate: 150, reloads: 60, kills: 8, cancellationToken);

    private static async Task RunAsync(int messages, int rate, int reloads, int kills, CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-CFG-1",
                Sinks = async (database, _) =>
                [
                    await SqlSink.CreateAsync("ordered", database, SinkPromises.Ordered | SinkPromises.Once, BenchConfiguration.Ordered()),
                    await SqlSink.CreateAsync("keyed", database, SinkPromises.Ordered | SinkPromises.Once, BenchConfiguration.OrderedByKey()),
                    await SqlSink.CreateAsync("loose", database, SinkPromises.Once, BenchConfiguration.Parallel()),
                ],
            },
            cancellationToken);
        using var reloading = new Reloads(bench);
        var nemesis = FaultBench.NewNemesis();
        foreach (var host in kills == 0 ? [] : bench.Farm.Hosts) nemesis = nemesis.Track(2, 10, (HostFaults.Kill(host), kills / 2));

        using var load = bench.Load(new LoadPlan { Messages = messages, Keys = 50, Rate = rate, LargestBody = 1_024 });
        await bench.RunAsync(
            faults => load.RunAsync(cancellationToken, until: faults),
            token => Task.WhenAll(nemesis.RunAsync(token), reloading.RunAsync(reloads, token)),
            cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, $"{load.Acknowledged:N0}, 50 keys, {rate}/s, 2 hosts, kill -9 host × {kills}", $"{reloading.Done} reloads made, {reloading.Refused} refused, {reloading.Elsewhere} not possible just then");
        Assert.That(reloading.Refused, Is.EqualTo(reloads / 5), "each fifth is wrong, and found so");
        if (kills == 0) Assert.That((reloading.Done, reloading.Elsewhere), Is.EqualTo((reloads - (reloads / 5), 0)));
        else Assert.That(reloading.Done, Is.GreaterThan(reloads / 4), "the others met a host that was dead or had just come");
    }

    private sealed class Reloads(FaultBench bench) : IDisposable
    {
        private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(60) };

        public int Done { get; private set; }

        public int Refused { get; private set; }

        public int Elsewhere { get; private set; }

        public async Task RunAsync(int times, CancellationToken cancellationToken)
        {
            for (var i = 0; i < times; i++)
            {
                var good = JsonNode.Parse(await File.ReadAllTextAsync(bench.Configuration, cancellationToken))!.AsObject();
                var isWrong = i % 5 == 4;
                var next = good.DeepClone().AsObject();
                if (isWrong) next["endpoints"]!["loose"]!["type"] = "sql-outbund";
                else Change(next, i);
                await bench.ConfigureAsync(next);
                await ReloadAsync(bench.Farm.Hosts[i % bench.Farm.Hosts.Count], isWrong, cancellationToken);
                if (isWrong) await bench.ConfigureAsync(good);
                await Task.Delay(200, cancellationToken);
            }
        }

        public void Dispose() => _client.Dispose();

        private static void Change(JsonObject configuration, int round)
        {
            var endpoints = configuration["endpoints"]!.AsObject();
            switch (round % 5)
            {
                case 0: endpoints["loose"]!["retry"]!["immediate"] = 1 + (round % 7); break;
                case 1: endpoints["keyed"]!["timeout"] = $"{30 + (round % 7)}s"; break;
                case 2: endpoints["ordered"]!["subscribe"] = new JsonArray("work.item", $"work.round{round}"); break;
                default: endpoints["intake"]!["timeout"] = $"{40 + (round % 7)}s"; break;
            }

            endpoints["ordered"]!["poolTimeout"] = $"{30 + (round % 11)}s";
        }

        // A wrong configuration is refused by whichever host reads it; a right one needs both.
        private async Task ReloadAsync(FarmHost host, bool isWrong, CancellationToken cancellationToken)
        {
            while (true)
            {
                var (status, text) = await TryAsync(host, cancellationToken);
                if (isWrong && status == HttpStatusCode.UnprocessableEntity && text.Contains("endpoints.loose.type", StringComparison.Ordinal)) Refused++;
                else if (!isWrong && status == HttpStatusCode.OK) Done++;
                else if (!isWrong && text.Contains("ESB-CONFIG-DIFFERS", StringComparison.Ordinal)) Elsewhere++;
                else if (status is 0 or HttpStatusCode.Conflict or HttpStatusCode.ServiceUnavailable || text.Contains("ESB-CONFIG-DIFFERS", StringComparison.Ordinal))
                {
                    await Task.Delay(500, cancellationToken); // dead, starting, or busy
                    continue;
                }
                else
                {
                    Assert.Fail($"{host.Name} answered {(int)status}: {text}");
                }

                return;
            }
        }

        private async Task<(HttpStatusCode Status, string Text)> TryAsync(FarmHost host, CancellationToken cancellationToken)
        {
            try
            {
                var key = await File.ReadAllTextAsync(Path.Combine(host.Folder, "esb-data", "management.key"), cancellationToken);
                using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Process.Management, "/api/configuration/reload"));
                request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
                using var response = await _client.SendAsync(request, cancellationToken);
                return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
            }
            catch (Exception ex) when (ex is HttpRequestException or IOException or InvalidOperationException or JsonException)
            {
                return (0, ex.Message);
            }
        }
    }
}
