namespace Esb.Core.Audit;

/// <summary>Amount of a message's body that an audit fact holds.</summary>
public enum AuditBodyState
{
    /// <summary>The whole, unchanged body.</summary>
    Whole,

    /// <summary>The beginning of the body, which exceeds the recorded length.</summary>
    Truncated,

    /// <summary>The body, with parts of it or of the headers masked: the record differs from the message.</summary>
    Masked,

    /// <summary>No body: it was erased on request. Its hash is kept.</summary>
    Erased,

    /// <summary>No body: a part of it must be masked, but it cannot be parsed. Hash and length are those of the original body.</summary>
    Withheld,
}
