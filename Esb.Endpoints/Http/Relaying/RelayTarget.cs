using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>The target of relayed requests of one endpoint, and its settings.</summary>
/// <param name="Target">The external system.</param>
/// <param name="Headers">The header rules.</param>
/// <param name="Patience">The maximum silence of the external system.</param>
internal sealed record RelayTarget(HttpTarget Target, RelayHeaders Headers, TimeSpan Patience);
