namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>The codes of faults, by their names in SOAP 1.2; SOAP 1.1 says Client and Server for the first two.</summary>
internal enum SoapFaultCode
{
    /// <summary>The message is at fault; sent again as it is, it fails again.</summary>
    Sender,

    /// <summary>The receiver is at fault; the same message may succeed later.</summary>
    Receiver,

    /// <summary>A header that had to be understood is not.</summary>
    MustUnderstand,

    /// <summary>The envelope is of another version.</summary>
    VersionMismatch,
}
