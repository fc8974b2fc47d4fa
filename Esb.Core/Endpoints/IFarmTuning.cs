using Esb.Core.Topics;

namespace Esb.Core.Endpoints;

/// <summary>Changes an endpoint on every host of the farm at run time. Thread-safe.</summary>
public interface IFarmTuning
{
    /// <summary>Applies all settings that are not null: on this host before it returns, on other hosts shortly after.</summary>
    /// <returns>The notified hosts, including this one. Hosts that start later use their configuration.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-ENDPOINT-UNKNOWN</c>; <c>ESB-ENDPOINT-TUNING</c>: it contradicts the endpoint's
    /// <c>delivery</c>, or is out of range; <c>ESB-FARM-UNAVAILABLE</c>: applied here, but the other hosts may not have been notified; a
    /// retry is safe.</exception>
    Task<IReadOnlyList<FarmHost>> TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken);
}
