using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;

namespace SideBySide.Scenarios;

/// <summary>S10: the request/reply of S5 with 1 KiB, recorded in the ways that there are, beside a host that records nothing; and a relay
/// of 1 KiB, audited and not.</summary>
internal sealed class AuditRig(Surroundings surroundings, TestServers servers) : IRig
{
    private const string Common = "pool of 100, 32 threads, classic queue, transient requests; PostgreSQL on the same machine";

    public IReadOnlyList<string> Scenarios { get; } = ["S10"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var request = Path.Combine(surroundings.Folder("request"), "request.json");
        await File.WriteAllTextAsync(request, $$"""{"country":"Germany","note":"{{new string('x', 990)}}"}""", cancellationToken);
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using var unrecorded = await Side.TryAsync(
            "nothing recorded",
            () => topics.UnrecordedHostAsync("audit-off", cancellationToken)
        );
        var nothing = unrecorded.Target(host => Target("nothing recorded", $"no audit at all; {Common}", host, request));
        await HoldAsync("metadata", "none", Goal.Ratio(0.88));
        await HoldAsync("whole bodies", "whole", Goal.Ratio(0.8));
        await HoldRelaysAsync(topics, hold, cancellationToken);

        async Task HoldAsync(string what, string bodies, Goal goal)
        {
            var prefix = $"audit-{bodies}";
            await using var spooled = await Side.TryAsync(
                $"{what}, spooled",
                () => topics.AuditedHostAsync($"{prefix}-spooled", Audit("spooled", bodies), cancellationToken)
            );
            await using var strict = await Side.TryAsync(
                $"{what}, strict",
                () => topics.AuditedHostAsync($"{prefix}-strict", Audit("strict", bodies), cancellationToken)
            );
            await hold(
                new Contest(
                    $"S10, {what}",
                    [
                        new(
                            "S10",
                            $"{what}, spooled",
                            spooled.Target(host =>
                                Target(
                                    $"{what}, spooled",
                                    $"in a file of this machine before the answer, flushed within 100 ms, then in PostgreSQL; {Common}",
                                    host,
                                    request
                                )
                            ),
                            [nothing],
                            goal
                        ),
                        new(
                            "S10",
                            $"{what}, strict",
                            strict.Target(host =>
                                Target($"{what}, strict", $"committed in PostgreSQL before the answer; {Common}", host, request)
                            ),
                            [nothing],
                            null
                        ),
                    ]
                )
            );
        }
    }

    // A relay leaves two facts for each request, and nothing of its body.
    private async Task HoldRelaysAsync(TopicServers topics, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var folder = surroundings.Folder("backend-audited");
        var documents = new OrderDocuments(Directory.CreateDirectory(Path.Combine(folder, "www")).FullName);
        await using var backend = await Backend.StartAsync(surroundings, folder, cancellationToken);
        await using var plain = await Side.TryAsync("relay, nothing recorded", () => HostAsync("relay-none", []));
        await using var spooled = await Side.TryAsync(
            "relay, spooled",
            () => HostAsync("relay-spooled", [new("ESB__ENDPOINTS__RELAY__AUDIT__MODE", "spooled")])
        );
        await using var strict = await Side.TryAsync(
            "relay, strict",
            () => HostAsync("relay-strict", [new("ESB__ENDPOINTS__RELAY__AUDIT__MODE", "strict")])
        );
        var nothing = Relay(plain, "relay, nothing recorded", "no audit of the relay");
        await hold(
            new Contest(
                "S10, relays",
                [
                    new(
                        "S10",
                        "relay, spooled",
                        Relay(
                            spooled,
                            "relay, spooled",
                            "request and answer in a file of this machine before the caller has the end of the answer, flushed "
                                + "within 100 ms, then in PostgreSQL"
                        ),
                        [nothing],
                        Goal.Ratio(0.65)
                    ),
                    new(
                        "S10",
                        "relay, strict",
                        Relay(strict, "relay, strict", "what came committed in PostgreSQL before the back end hears of it"),
                        [nothing],
                        null
                    ),
                ]
            )
        );

        Task<EsbHost> HostAsync(string name, IEnumerable<KeyValuePair<string, string>> audit) =>
            EsbHost.StartAsync(
                surroundings,
                "mediation",
                name,
                [new("ESB_BACKEND", backend.Url), .. topics.Store(name), .. audit],
                cancellationToken
            );

        ITarget Relay(Side<EsbHost> side, string name, string settings) =>
            side.Target(host => new WrkTarget(
                name,
                $"{host.Collector} collector; {settings}; 1 KiB",
                new WrkRequest(
                    $"{host.Url}/relay",
                    documents.Plain("1K"),
                    "text/xml; charset=utf-8",
                    OrderDocuments.EqualTo(documents.Plain("1K"))
                ),
                Meter.Of(host),
                surroundings
            ));
    }

    private static IEnumerable<KeyValuePair<string, string>> Audit(string mode, string bodies)
    {
        yield return new("ESB__AUDIT__MODE", mode);
        if (bodies != "none")
            yield return new("ESB__AUDIT__BODIES", bodies);
    }

    private WrkTarget Target(string name, string settings, EsbHost host, string request) =>
        new(
            name,
            $"{host.Collector} collector; {settings}",
            new WrkRequest($"{host.Url}/customers", request, "application/json", RequestReplyRig.Flaw),
            Meter.Of(host),
            surroundings
        );
}
