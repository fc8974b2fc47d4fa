using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Host.Reloading;

/// <summary>Finds what could not start with the revision that was just put into service on this host. Thread-safe.</summary>
/// <remarks>An external system that is unreachable is no failure: its endpoint waits for it.</remarks>
internal sealed class StartFailures(IEnumerable<IEndpointMonitor> monitors)
{
    /// <summary>The error of a revision that was put out of service again.</summary>
    public static ConfigError RolledBack(string place, string reason) => new("ESB-CONFIG-ROLLEDBACK", place, null, reason, null);

    /// <summary>A line for each part and each changed endpoint that failed; empty if all started.</summary>
    /// <param name="prepared">The exchange.</param>
    /// <param name="parts">The parts of the host that failed to switch.</param>
    public IReadOnlyList<string> Of(PreparedExchange prepared, IReadOnlyList<string> parts)
    {
        if (prepared.Next is null)
            return [];
        var changed = prepared.Changes.Changed.ToHashSet();
        return
        [
            .. parts,
            .. monitors
                .SelectMany(monitor => monitor.Endpoints)
                .Where(endpoint => endpoint.HasFailed && changed.Contains(endpoint.Name))
                .Select(endpoint => $"endpoint {endpoint.Name} cannot start: {endpoint.Reason}"),
        ];
    }
}
