namespace Esb.Endpoints.Http.Access;

/// <summary>The kinds of credential by which callers authenticate.</summary>
internal enum CredentialKind
{
    /// <summary>A key in a header.</summary>
    ApiKey,

    /// <summary>A user and a password (RFC 7617).</summary>
    Basic,

    /// <summary>A bearer token (RFC 6750) that is a signed JWT (RFC 7519).</summary>
    Jwt,

    /// <summary>The client certificate presented in TLS.</summary>
    Certificate,

    /// <summary>A signature over the time and the body.</summary>
    Signature,

    /// <summary>A user and a password, or a digest of it, in a header of SOAP (WS-Security UsernameToken Profile 1.1).</summary>
    UsernameToken,
}
