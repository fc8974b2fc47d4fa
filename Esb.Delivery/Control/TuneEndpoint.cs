using Esb.Core.Endpoints;
using Esb.Core.Storage;

namespace Esb.Delivery.Control;

/// <summary>Command to the hosts of a farm to tune an endpoint.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Tuning">The changes.</param>
/// <param name="By">The operator; null if sent by an older host.</param>
internal sealed record TuneEndpoint(string Endpoint, EndpointTuning Tuning, string? By = null);

/// <summary>Command to the hosts of a farm to reset a tuned setting of an endpoint, or all of them.</summary>
internal sealed record ResetEndpoint(string Endpoint, string? Setting);

/// <summary>Question of a host that joined, where each host keeps the tuned settings itself.</summary>
/// <param name="Since">The time since when the asking host runs.</param>
internal sealed record AskTuning(DateTimeOffset Since);

/// <summary>The tuned settings of a host.</summary>
/// <param name="Settings">All of them; null if it runs no longer than the host that asks.</param>
internal sealed record TuningKnown(IReadOnlyList<TunedSetting>? Settings);
