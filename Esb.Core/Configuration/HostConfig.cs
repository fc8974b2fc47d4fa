using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Core.Configuration;

/// <summary>The section <c>host</c>: what may differ from host to host of a farm.</summary>
public sealed record HostConfig : SettingsRecord
{
    /// <summary>Roles of this host; empty if it runs all endpoints.</summary>
    [Setting("The roles of this host: it runs the endpoints that have one of them, and those that have none. Without roles it runs all.")]
    public IReadOnlyList<string> Roles { get; init; } = [];

    /// <summary>Threads that the thread pool makes without delay; null for the default of .NET, one per core.</summary>
    [Setting(
        "Threads that the thread pool makes at once when they are needed; above this it makes about two a second. By default one per core.",
        Range = "1..32767"
    )]
    public int? MinThreads { get; init; }

    /// <summary>Returns why this host does not run an endpoint that is enabled; null if it does.</summary>
    public string? AbsenceOf(EndpointConfig endpoint) =>
        Roles.Count == 0 || endpoint.Roles.Count == 0 || endpoint.Roles.Intersect(Roles).Any()
            ? null
            : $"runs on hosts with the role {string.Join(" or ", endpoint.Roles)}; this host has {string.Join(", ", Roles)}";

    /// <summary>True if this host runs an endpoint: it is enabled, and the roles allow it.</summary>
    public bool Runs(EndpointConfig endpoint) => endpoint.Enabled && AbsenceOf(endpoint) is null;
}
