using Esb.Endpoints.Soap.Envelopes;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>Feature of a request whose envelope was read: failures from then on are faults of its version, no failures of HTTP.</summary>
internal sealed record SoapCall(SoapVersion Version);
