using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;

namespace SideBySide.Scenarios;

/// <summary>S1 to S4 and S15: HTTP in, HTTP out, documents of four sizes.</summary>
internal sealed class MediationRig(Surroundings surroundings, TestServers servers) : IRig
{
    private static readonly Dictionary<string, double> OfNginx = new()
    {
        ["0.5K"] = 0.7,
        ["1K"] = 0.7,
        ["10K"] = 0.65,
        ["100K"] = 0.9,
    };
    private static readonly Dictionary<string, double> OfCamel = new()
    {
        ["0.5K"] = 2.2,
        ["1K"] = 2.2,
        ["10K"] = 1.6,
        ["100K"] = 1.1,
    };
    private static readonly Dictionary<string, double> OfCamelXslt = new()
    {
        ["0.5K"] = 1.7,
        ["1K"] = 1.7,
        ["10K"] = 1.7,
        ["100K"] = 2,
    };

    public IReadOnlyList<string> Scenarios { get; } = ["S1", "S2", "S3", "S4", "S15"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        var folder = surroundings.Folder("backend");
        var documents = new OrderDocuments(Directory.CreateDirectory(Path.Combine(folder, "www")).FullName);
        await using var backend = await Backend.StartAsync(surroundings, folder, cancellationToken);
        await using var camel = await Side.TryAsync(
            "Camel",
            () => CamelServer.StartAsync(surroundings, servers, null, [new("BACKEND", backend.Url)], cancellationToken)
        );
        // Where there is no peer there is time to look at what .NET gives without the bus.
        await using var bare = surroundings.Peer(CamelServer.Jar) is not null
            ? null
            : await BareServer.StartAsync(surroundings, "relay", [$"{backend.Url}/echo"], cancellationToken);
        await using var host = await EsbHost.StartAsync(
            surroundings,
            "mediation",
            "mediation",
            [new("ESB_BACKEND", backend.Url)],
            cancellationToken
        );
        var astray = backend.Proxy is null ? null : await Routes.FlawAsync($"{host.Url}/route", documents, cancellationToken);

        foreach (var size in OrderDocuments.Sizes.Keys)
        {
            var sides = new MediationSides(size, documents, surroundings, backend, camel, host, astray);
            var rows = bare is null
                ? Rows(size, sides)
                : Rows(size, sides).Append(new("S1", size, sides.Relay, [sides.BareRelay(bare)], null));
            Row[] straight = [.. rows.Where(row => wanted.Contains(row.Scenario))];
            if (straight.Length > 0)
                await hold(new Contest($"{string.Join(", ", straight.Select(row => row.Scenario).Distinct())}, {size}", straight));
            if (wanted.Contains("S4"))
                await hold(new Contest($"S4, {size}", [new("S4", size, sides.Reverse, [sides.CamelXslt], Goal.Ratio(OfCamelXslt[size]))]));
        }
    }

    private static IEnumerable<Row> Rows(string size, MediationSides sides)
    {
        yield return new("S1", size, sides.Relay, [sides.Proxy], Goal.Ratio(OfNginx[size]));
        yield return new("S1", size, sides.Relay, [sides.CamelDirect], Goal.Ratio(OfCamel[size]));
        yield return new("S2", size, sides.Policies, [sides.Relay], Goal.Ratio(1));
        yield return new("S2", size, sides.Policies, [], Goal.Allocates(6 * 1024));
        yield return new("S3", size, sides.Route, [sides.Policies], Goal.Ratio(0.9));
        yield return new("S3", size, sides.Route, [sides.CamelRoute], Goal.Ratio(5));
        if (size is not ("1K" or "10K"))
            yield break;
        yield return new("S3", $"in a process, {size}", sides.Choose, [sides.CamelRoute], Goal.Ratio(4));
        yield return new("S15", $"call, {size}", sides.Call, [sides.CamelDirect], Goal.Ratio(1.3));
        yield return new("S15", $"wire tap, {size}", sides.Tap, [sides.Call], Goal.Ratio(0.98));
        if (size is "10K")
            yield return new("S15", $"header changed, {size}", sides.Copy, [sides.Call], Goal.Ratio(0.98));
    }
}
