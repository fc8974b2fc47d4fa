using System.Text.Json.Serialization;

namespace Esb.Host.Reloading;

/// <summary>Requests a host to prepare a revision. Carries no configuration: each host reads its own files, or a version in
/// the store.</summary>
/// <param name="Id">The id of the exchange.</param>
/// <param name="Revision">The revision that reading must yield.</param>
/// <param name="By">The operator.</param>
/// <param name="Migrates">True if the requesting host moves waiting messages to other queues before the exchange.</param>
internal sealed record PrepareReload(Guid Id, string Revision, string By, bool Migrates)
{
    /// <summary>How the revision comes, as <see cref="ExchangeOrder.Kind"/>.</summary>
    public string Kind { get; init; } = ExchangeOrder.Reload;

    /// <summary>True if instances of workflows that could not go on are suspended.</summary>
    public bool Suspends { get; init; }

    /// <summary>What the operator has agreed to.</summary>
    [JsonIgnore]
    public ExchangeMeans Means => new(Migrates, Suspends);

    /// <summary>The version in the shared store; null if there is none.</summary>
    public long? Version { get; init; }
}

/// <summary>Reminds prepared hosts that the decision is still pending.</summary>
/// <param name="Id">The id of the exchange.</param>
internal sealed record AwaitReload(Guid Id);

/// <summary>Indicates whether a host is prepared.</summary>
/// <param name="Reason">The reason if it is not prepared; otherwise null.</param>
internal sealed record ReloadPrepared(string? Reason);

/// <summary>The decision about a prepared exchange.</summary>
/// <param name="Id">The id of the exchange.</param>
/// <param name="Goes">True to commit; false to undo the preparation.</param>
internal sealed record DecideReload(Guid Id, bool Goes);

/// <summary>Asks a host for the progress of the endpoints that an exchange changed.</summary>
/// <param name="Id">The id of the exchange.</param>
internal sealed record AskStarts(Guid Id);

/// <summary>Progress of changed endpoints on a host.</summary>
/// <param name="Failures">What cannot start, a line each.</param>
/// <param name="Starting">Endpoints that are starting.</param>
/// <param name="StandsBy">Single-instance endpoints that another host runs, or no host yet.</param>
/// <param name="Started">Endpoints that have started.</param>
internal sealed record StartsKnown(
    IReadOnlyList<string> Failures,
    IReadOnlyList<string> Starting,
    IReadOnlyList<string> StandsBy,
    IReadOnlyList<string> Started
)
{
    /// <summary>Nothing is known.</summary>
    public static StartsKnown Nothing { get; } = new([], [], [], []);

    /// <summary>What is known of several hosts.</summary>
    public static StartsKnown Of(IReadOnlyCollection<StartsKnown> hosts) =>
        new(
            [.. hosts.SelectMany(host => host.Failures)],
            [.. hosts.SelectMany(host => host.Starting)],
            [.. hosts.SelectMany(host => host.StandsBy)],
            [.. hosts.SelectMany(host => host.Started)]
        );

    /// <summary>True if hosts of another role run some of them, so that they have to be asked.</summary>
    [JsonIgnore]
    public bool AreElsewhere { get; init; }

    /// <summary>True if an endpoint is starting, or none of the hosts runs one that stands by.</summary>
    [JsonIgnore]
    public bool IsPending => Starting.Count > 0 || StandsBy.Except(Started).Any();
}

/// <summary>The result of the decision on a host.</summary>
/// <param name="IsDone">True if the host runs the revision.</param>
internal sealed record ReloadDecided(bool IsDone)
{
    /// <summary>What could not start with it, a line each.</summary>
    public IReadOnlyList<string> Failures { get; init; } = [];
}
