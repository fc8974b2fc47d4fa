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
        return prepared.Next is null ? [] : [.. parts, .. Look(prepared.Changes.Changed.ToHashSet()).Failures];
    }

    /// <summary>Progress of these endpoints on this host. A single-instance endpoint starts on the host that gets its lease.</summary>
    public StartsKnown Look(IReadOnlySet<string> changed)
    {
        var endpoints = monitors.SelectMany(monitor => monitor.Endpoints).Where(endpoint => changed.Contains(endpoint.Name)).ToList();
        return new StartsKnown(
            [
                .. endpoints
                    .Where(endpoint => endpoint.HasFailed)
                    .Select(endpoint => $"endpoint {endpoint.Name} cannot start: {endpoint.Reason}"),
            ],
            Names(endpoint => endpoint is { State: EndpointState.Starting, Reason: null, Pool: null }),
            Names(endpoint => endpoint is { State: EndpointState.Standby, Reason: null }),
            Names(endpoint => endpoint.State is not (EndpointState.Starting or EndpointState.Standby or EndpointState.Disabled))
        )
        {
            AreElsewhere = endpoints.Any(endpoint => endpoint is { State: EndpointState.Disabled, Reason: not null }),
        };

        IReadOnlyList<string> Names(Func<EndpointStatus, bool> isSo) => [.. endpoints.Where(isSo).Select(endpoint => endpoint.Name)];
    }
}
