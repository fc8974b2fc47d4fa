namespace Esb.Core.Audit;

/// <summary>How much of a message's body an audit fact holds.</summary>
public enum AuditBodyState
{
    /// <summary>All of it, as it was.</summary>
    Whole,

    /// <summary>Its beginning: it is longer than what is recorded of one.</summary>
    Truncated,

    /// <summary>It, with something in it or in the headers made unreadable: what is recorded is not the message any more.</summary>
    Masked,

    /// <summary>Nothing any more: it was erased on request. Its hash stays.</summary>
    Erased,

    /// <summary>Nothing: something in it is to be masked, and it could not be read. Its hash and its length are of the body as it was.</summary>
    Withheld,
}
