using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Sinks;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Benches;

/// <summary>What a bench is set up with.</summary>
internal sealed record BenchPlan
{
    /// <summary>The case of the specification, such as <c>T-DEL-1</c>.</summary>
    public required string Case { get; init; }

    /// <summary>Hosts of one farm.</summary>
    public int Hosts { get; init; } = 2;

    /// <summary>The program whose <c>run</c> is a host.</summary>
    public string Program { get; init; } = Repository.Host;

    /// <summary>What comes before the command line of each host; nothing by default.</summary>
    public IReadOnlyList<string> Launcher { get; init; } = [];

    /// <summary>Makes the outsides, in a database and a folder of the bench.</summary>
    public required Func<NpgsqlDataSource, string, Task<IReadOnlyList<ISink>>> Sinks { get; init; }

    /// <summary>Changes the configuration before it is written; by default nothing.</summary>
    public Action<JsonObject> Configure { get; init; } = _ => { };

    /// <summary>Broker and database; null for those that all tests share.</summary>
    public PrivateServers? Servers { get; init; }

    /// <summary>Whether the hosts reach broker and database through proxies.</summary>
    public bool IsProxied { get; init; }
}
