namespace Esb.Endpoints.Http.Access;

/// <summary>The reason a call was refused: logged, never sent to the caller.</summary>
internal enum Denial
{
    /// <summary>The call was not refused.</summary>
    None,

    /// <summary>No credential of an accepted kind.</summary>
    Missing,

    /// <summary>An unreadable credential, or two of them.</summary>
    Malformed,

    /// <summary>A credential of no known party.</summary>
    Unknown,

    /// <summary>A token or certificate that has expired or is not yet valid.</summary>
    OutOfTime,

    /// <summary>A token that is not signed by a key of its issuer, or signed with an unaccepted algorithm.</summary>
    Untrusted,

    /// <summary>A signed request whose signature does not match.</summary>
    WrongSignature,

    /// <summary>A signed request with a time too far in the past, or in the future.</summary>
    Replayed,

    /// <summary>A party that may not use the endpoint, or may not publish its message.</summary>
    Forbidden,

    /// <summary>More calls than the rate limit allows.</summary>
    RateLimit,
}
