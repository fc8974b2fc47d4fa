using Esb.Core.Errors;

namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>An envelope that is refused with a certain code of SOAP.</summary>
internal sealed class SoapFaultException(SoapFaultCode faultCode, string code, string message)
    : EsbException(code, message, FaultKind.Malformed)
{
    public SoapFaultCode FaultCode => faultCode;

    /// <summary>The header that is not understood; null if it is about something else.</summary>
    public SoapHeader? NotUnderstood { get; init; }
}
