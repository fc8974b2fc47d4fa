namespace Esb.Endpoints.Http.Access;

/// <summary>Why a call was refused: told in the log, never to the caller.</summary>
internal enum Denial
{
    /// <summary>It was not.</summary>
    None,

    /// <summary>No credential of a kind that the endpoint takes.</summary>
    Missing,

    /// <summary>A credential that cannot be read, or two of them.</summary>
    Malformed,

    /// <summary>A credential that no party has.</summary>
    Unknown,

    /// <summary>A token or certificate whose time is over, or has not come.</summary>
    OutOfTime,

    /// <summary>A token that is not signed by a key of its issuer, or by an algorithm that is not taken.</summary>
    Untrusted,

    /// <summary>A signed request whose signature does not fit.</summary>
    WrongSignature,

    /// <summary>A signed request that was made too long ago, or in the future.</summary>
    Replayed,

    /// <summary>A party that may not use the endpoint, or not publish what it publishes.</summary>
    Forbidden,

    /// <summary>More calls than agreed.</summary>
    RateLimit,
}
