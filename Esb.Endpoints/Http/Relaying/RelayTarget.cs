using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Where requests of one endpoint are relayed to, and how.</summary>
/// <param name="Target">The outside.</param>
/// <param name="Headers">What becomes of headers.</param>
/// <param name="Patience">How long the outside may be silent.</param>
internal sealed record RelayTarget(HttpTarget Target, RelayHeaders Headers, TimeSpan Patience);
