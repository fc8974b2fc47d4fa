namespace Esb.Endpoints.Http.Access;

/// <summary>What a caller can prove with who it is.</summary>
internal enum CredentialKind
{
    /// <summary>A key in a header.</summary>
    ApiKey,

    /// <summary>A user and a password (RFC 7617).</summary>
    Basic,

    /// <summary>A bearer token (RFC 6750) that is a signed JWT (RFC 7519).</summary>
    Jwt,

    /// <summary>The certificate that it shows in TLS.</summary>
    Certificate,

    /// <summary>A signature over time and body.</summary>
    Signature,
}
