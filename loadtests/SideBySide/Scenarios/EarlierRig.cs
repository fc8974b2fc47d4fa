using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;
using SideBySide.Topics;

namespace SideBySide.Scenarios;

/// <summary>S1, S3, S5, S6 and the audited relay of S10 with an earlier build of the bus as the peer: both with the same configuration,
/// documents and servers.</summary>
/// <param name="earlier">The repository of the earlier build, built in Release.</param>
internal sealed class EarlierRig(Surroundings surroundings, TestServers servers, string earlier) : IRig
{
    private const string Earlier = ", the earlier build";
    private const string Audited = "audited, pool as in loadtests/compare.d";

    private static readonly Goal NoSlower = Goal.Ratio(0.95);

    private readonly string _program = Path.Combine(Path.GetFullPath(earlier), EsbHost.Program);

    public IReadOnlyList<string> Scenarios { get; } = ["S1", "S3", "S5", "S6", "S10"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        if (wanted.Contains("S1") || wanted.Contains("S3"))
            await HoldMediationAsync(wanted, hold, cancellationToken);
        if (wanted.Contains("S5") || wanted.Contains("S6"))
            await HoldTopicsAsync(wanted, hold, cancellationToken);
        if (wanted.Contains("S10"))
            await HoldAuditedAsync(hold, cancellationToken);
    }

    private async Task HoldMediationAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var folder = surroundings.Folder("backend");
        var documents = new OrderDocuments(Directory.CreateDirectory(Path.Combine(folder, "www")).FullName);
        await using var backend = await Backend.StartAsync(surroundings, folder, cancellationToken);
        await using var now = await HostAsync("now", EsbHost.Program);
        await using var before = await HostAsync("before", _program);
        foreach (var size in OrderDocuments.Sizes.Keys)
        {
            await HoldAsync("S1", $"relay, {size}", "relay");
            await HoldAsync("S3", $"routing in a process, {size}", "choose");

            async Task HoldAsync(string scenario, string name, string path)
            {
                if (wanted.Contains(scenario))
                    await hold(Pair(scenario, name, Target(name, now, path), Target($"{name}{Earlier}", before, path)));
            }

            WrkTarget Target(string name, EsbHost host, string path) =>
                new(
                    name,
                    $"{host.Collector} collector; settings as they come",
                    new WrkRequest(
                        $"{host.Url}/{path}",
                        documents.Plain(size),
                        "text/xml; charset=utf-8",
                        OrderDocuments.EqualTo(documents.Plain(size))
                    ),
                    Meter.Of(host),
                    surroundings
                );
        }

        Task<EsbHost> HostAsync(string name, string program) =>
            EsbHost.StartAsync(surroundings, "mediation", name, [new("ESB_BACKEND", backend.Url)], cancellationToken, program);
    }

    private async Task HoldTopicsAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var request = Path.Combine(surroundings.Folder("request"), "request.json");
        await File.WriteAllTextAsync(request, "{\"country\":\"Germany\"}", cancellationToken);
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using var now = await topics.HostAsync("now", EsbHost.Program, cancellationToken);
        await using var before = await topics.HostAsync("before", _program, cancellationToken);
        if (wanted.Contains("S5"))
            await hold(Pair("S5", "request and reply", Ask("request and reply", now), Ask($"request and reply{Earlier}", before)));
        if (wanted.Contains("S6"))
            await hold(Pair("S6", "inserts", Insert("inserts", now, "now"), Insert($"inserts{Earlier}", before, "before")));

        WrkTarget Ask(string name, EsbHost host) =>
            new(
                name,
                $"{host.Collector} collector; {Audited}",
                new WrkRequest($"{host.Url}/customers", request, "application/json", RequestReplyRig.Flaw),
                Meter.Of(host),
                surroundings
            );

        InsertTarget Insert(string name, EsbHost host, string prefix) =>
            new(
                name,
                $"{host.Collector} collector; one commit for each message, {Audited}",
                Meter.Of(host),
                topics.Publisher,
                topics.Table,
                new Address($"{prefix}.topics.orders", "orders.new")
            );
    }

    private async Task HoldAuditedAsync(Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var folder = surroundings.Folder("backend-audited");
        var documents = new OrderDocuments(Directory.CreateDirectory(Path.Combine(folder, "www")).FullName);
        await using var backend = await Backend.StartAsync(surroundings, folder, cancellationToken);
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using var now = await HostAsync("audited-now", EsbHost.Program);
        await using var before = await HostAsync("audited-before", _program);
        await hold(Pair("S10", "audited relay, 1K", Target("audited relay, 1K", now), Target($"audited relay, 1K{Earlier}", before)));

        Task<EsbHost> HostAsync(string name, string program) =>
            EsbHost.StartAsync(
                surroundings,
                "mediation",
                name,
                [new("ESB_BACKEND", backend.Url), .. topics.Store(name), new("ESB__ENDPOINTS__RELAY__AUDIT__MODE", "spooled")],
                cancellationToken,
                program
            );

        WrkTarget Target(string name, EsbHost host) =>
            new(
                name,
                $"{host.Collector} collector; request and answer recorded, spooled, then in PostgreSQL",
                new WrkRequest(
                    $"{host.Url}/relay",
                    documents.Plain("1K"),
                    "text/xml; charset=utf-8",
                    OrderDocuments.EqualTo(documents.Plain("1K"))
                ),
                Meter.Of(host),
                surroundings
            );
    }

    private static Contest Pair(string scenario, string name, ITarget now, ITarget before) =>
        new($"{scenario}, {name}", [new Row(scenario, name, now, [before], NoSlower)]);
}
