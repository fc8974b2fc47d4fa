using System.Xml;

namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>A fault to be written.</summary>
/// <param name="Code">Its code.</param>
/// <param name="Reason">Its text.</param>
/// <param name="WriteDetail">Writes what stands in its detail; null for a fault that is not about the Body, which has none.</param>
/// <param name="NotUnderstood">The header that is not understood; null for none.</param>
internal sealed record SoapFault(SoapFaultCode Code, string Reason, Action<XmlWriter>? WriteDetail, SoapHeader? NotUnderstood = null);
