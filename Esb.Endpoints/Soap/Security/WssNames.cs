namespace Esb.Endpoints.Soap.Security;

/// <summary>Names of WS-Security 1.1 and of its UsernameToken Profile.</summary>
internal static class WssNames
{
    public const string Wsse = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
    public const string Wsu = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
    public const string PasswordText = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText";
    public const string PasswordDigest =
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordDigest";
    public const string Base64 = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary";
    public const string Signature = "http://www.w3.org/2000/09/xmldsig#";
    public const string Encryption = "http://www.w3.org/2001/04/xmlenc#";
}
