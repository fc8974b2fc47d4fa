using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Core.Endpoints;

/// <summary>Tunes an endpoint on every host of the farm at run time. Tuned settings are kept, and lie over the configuration until they are
/// reset. Thread-safe.</summary>
public interface IFarmTuning
{
    /// <summary>The tuned settings of all endpoints.</summary>
    IReadOnlyList<TunedSetting> Tuned { get; }

    /// <summary>Applies and keeps all settings that are not null: on this host before it returns, on other hosts shortly after.</summary>
    /// <returns>The notified hosts, including this one.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-ENDPOINT-UNKNOWN</c>; <c>ESB-ENDPOINT-TUNING</c>: it contradicts the endpoint's
    /// <c>delivery</c>, or is out of range; <c>ESB-FARM-UNAVAILABLE</c>: applied here, but the other hosts may not have been notified; a
    /// retry is safe.</exception>
    Task<IReadOnlyList<FarmHost>> TuneAsync(
        string endpoint,
        EndpointTuning tuning,
        OperatorDecision decision,
        CancellationToken cancellationToken
    );

    /// <summary>Makes a tuned setting of an endpoint, or all of them, what the configuration says.</summary>
    /// <inheritdoc cref="TuneAsync"/>
    Task<IReadOnlyList<FarmHost>> ResetAsync(
        string endpoint,
        string? setting,
        OperatorDecision decision,
        CancellationToken cancellationToken
    );
}
