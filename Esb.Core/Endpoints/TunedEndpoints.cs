using System.Collections.Concurrent;

namespace Esb.Core.Endpoints;

/// <summary>The tuned settings of the endpoints of this host, which lie over the configuration. Thread-safe.</summary>
public sealed class TunedEndpoints
{
    private static readonly EndpointTuning Nothing = new();

    private readonly ConcurrentDictionary<string, EndpointTuning> _tuned = new();

    /// <summary>Returns the tuned settings of an endpoint; all null if none is.</summary>
    public EndpointTuning Of(string endpoint) => _tuned.GetValueOrDefault(endpoint, Nothing);

    /// <summary>Replaces the tuned settings of an endpoint.</summary>
    public void Set(string endpoint, EndpointTuning tuned)
    {
        if (tuned == Nothing)
            _tuned.TryRemove(endpoint, out _);
        else
            _tuned[endpoint] = tuned;
    }
}
