using System.Collections.Concurrent;
using System.Net;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Results;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>An operator applies one version after the other, by one host or the other, and goes back after each fourth; hosts are killed at
/// twelve points of an exchange, and stopped between exchanges, evenly over the run.</summary>
/// <param name="bench">Its hosts run what the store has.</param>
/// <param name="changes">Makes the version of a round. It has to mark it, so that the revision that handled a message is known.</param>
internal sealed class Applies(FaultBench bench, Action<JsonObject, int> changes) : IDisposable
{
    /// <summary>Points of an exchange at which a host is killed.</summary>
    public const int KillPoints = 12;

    /// <summary>Hosts that are stopped by SIGTERM.</summary>
    public const int Stops = 6;

    private const int Back = 4;

    private readonly ConfigurationCalls _calls = new();
    private readonly Random _random = new(FaultBench.Seed);
    private readonly List<(long Number, string Mark)> _versions = [];
    private readonly List<SeenExchange> _exchanges = [];
    private readonly List<TimeSpan> _quiet = []; // how long exchanges took while no host was struck
    private readonly ConcurrentQueue<(DateTimeOffset From, DateTimeOffset To)> _disturbances = new();
    private Task _healing = Task.CompletedTask;

    /// <summary>All of them, one after the other.</summary>
    public IReadOnlyList<SeenExchange> Exchanges => _exchanges;

    /// <summary>How many were put into service on all hosts.</summary>
    public int Done => _exchanges.Count(exchange => exchange.IsDone);

    /// <summary>How many were not possible, because a host had just died or come.</summary>
    public int Elsewhere => _exchanges.Count - Done;

    /// <summary>How long exchanges took, from the call to the answer, while all hosts lived.</summary>
    public IReadOnlyList<TimeSpan> Quiet => _quiet;

    /// <summary>Hosts that were killed; fewer than the points where the time was over before.</summary>
    public int Killed { get; private set; }

    /// <summary>Hosts that were stopped.</summary>
    public int Stopped => Disturbances.Count - Killed;

    /// <summary>When a host was away, or had just come back.</summary>
    public IReadOnlyCollection<(DateTimeOffset From, DateTimeOffset To)> Disturbances => _disturbances;

    /// <summary>The mark of a round's version; that of what runs at first is 0.</summary>
    public static string MarkOf(int round) => $"{round + 1}";

    /// <param name="times">Versions that are applied at most.</param>
    /// <param name="limit">How long this goes on at most.</param>
    /// <param name="cancellationToken">Stops between two exchanges.</param>
    public async Task RunAsync(int times, TimeSpan limit, CancellationToken cancellationToken)
    {
        var (strikes, struck, began) = (Plan(), 0, TimeProvider.System.GetTimestamp());
        try
        {
            for (var i = 0; i < times && TimeProvider.System.GetElapsedTime(began) < limit; i++)
            {
                var progress = Math.Max((double)i / times, TimeProvider.System.GetElapsedTime(began) / limit);
                var strike = struck < strikes.Count && progress >= (struck + 0.5) / strikes.Count ? strikes[struck++] : null;
                var next = JsonNode.Parse(await File.ReadAllTextAsync(bench.Configuration, cancellationToken))!.AsObject();
                changes(next, i);
                await bench.ConfigureAsync(next);
                var body = new JsonObject { ["files"] = new JsonObject { ["esb.json"] = next.ToJsonString() } };
                await ExchangeAsync(i, "/api/configuration/apply", body, MarkOf(i), strike, cancellationToken);
                if (i % Back != Back - 1 || _versions.Count < 2)
                    continue;
                var (number, mark) = _versions[^2];
                await ExchangeAsync(
                    i,
                    "/api/configuration/rollback",
                    new JsonObject { ["number"] = number },
                    mark,
                    null,
                    cancellationToken
                );
            }
        }
        finally
        {
            await _healing;
        }
    }

    public void Dispose() => _calls.Dispose();

    // Of a strike, how far the exchange has come then; null for a host that is stopped.
    private List<Planned> Plan()
    {
        var all = Enumerable.Range(0, KillPoints).Select(point => new Planned((point + 0.5) / KillPoints)).ToArray();
        _random.Shuffle(all);
        var strikes = new List<Planned>();
        for (var i = 0; i < KillPoints; i++)
        {
            strikes.Add(all[i]);
            if (i % (KillPoints / Stops) == 1)
                strikes.Add(new Planned(null));
        }

        return strikes;
    }

    private async Task ExchangeAsync(
        int round,
        string path,
        JsonObject body,
        string mark,
        Planned? strike,
        CancellationToken cancellationToken
    )
    {
        var hosts = bench.Farm.Hosts;
        var host = hosts[round % hosts.Count];
        if (strike is not null)
            await _healing; // one host at a time
        var wasQuiet = _healing.IsCompleted && strike is null;
        if (strike is not null) // the host that is asked, or another one
            _healing = StrikeAsync(hosts[_random.Next(2) == 0 ? round % hosts.Count : (round + 1) % hosts.Count], strike, cancellationToken);
        var (from, isUncertain) = (TimeProvider.System.GetUtcNow(), false);
        while (true)
        {
            var (status, text) = await _calls.PostAsync(host, path, body, cancellationToken);
            isUncertain |= status == 0;
            var isDone = status == HttpStatusCode.OK;
            if (isDone || ConfigurationCalls.Differs(text))
            {
                var seen = new SeenExchange(mark, from, TimeProvider.System.GetUtcNow(), isDone) { IsUncertain = isUncertain };
                _exchanges.Add(seen);
                if (!isDone)
                    FaultBench.Log($"round {round}: {text}");
                else if (JsonDocument.Parse(text).RootElement.TryGetProperty("version", out var version))
                    _versions.Add((version.GetInt64(), mark));
                if (isDone && wasQuiet && _healing.IsCompleted)
                    _quiet.Add(seen.To - seen.From);
                return;
            }

            if (!ConfigurationCalls.IsForLater(status))
                Assert.Fail($"{host.Name} answered {(int)status}: {text}");
            await Task.Delay(100, cancellationToken);
        }
    }

    private async Task StrikeAsync(FarmHost host, Planned strike, CancellationToken cancellationToken)
    {
        var typical = _quiet.Count > 0 ? Medians.Of(_quiet) : TimeSpan.FromSeconds(1);
        var fault = strike.Share is null
            ? HostFaults.Stop(host)
            : HostFaults.Kill(host) with
            {
                Name = $"kill -9 {host.Name} at {strike.Share:P0} of an exchange",
            };
        if (strike.Share is { } share)
            await Task.Delay(typical * share, cancellationToken);
        var from = TimeProvider.System.GetUtcNow();
        await new Nemesis(FaultBench.Seed + Disturbances.Count, FaultBench.Log).Track(0, 0, (fault, 1)).RunAsync(cancellationToken);
        await host.WaitForReadyAsync(cancellationToken);
        _disturbances.Enqueue((from, TimeProvider.System.GetUtcNow()));
        Killed += strike.Share is null ? 0 : 1;
    }

    private sealed record Planned(double? Share);
}
