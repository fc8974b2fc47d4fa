using Esb.Core.Topics;

namespace Esb.Core.Endpoints;

/// <summary>Changes an endpoint on every host of the farm while they work. Thread-safe.</summary>
public interface IFarmTuning
{
    /// <summary>Changes what is not null: here before this returns, on the other hosts a moment later.</summary>
    /// <returns>The hosts that were told, this one among them. Hosts that come later begin with their configuration.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-ENDPOINT-UNKNOWN</c>; <c>ESB-ENDPOINT-TUNING</c>: it contradicts the endpoint's <c>delivery</c>, or is out of range; <c>ESB-FARM-UNAVAILABLE</c>: done here, but the other hosts may not have heard; repeating it is safe.</exception>
    Task<IReadOnlyList<FarmHost>> TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken);
}
