namespace Esb.Core.Audit;

/// <summary>When an audit fact counts as recorded.</summary>
public enum AuditMode
{
    /// <summary>Once it is on a disk of this machine; it is moved to the store later.</summary>
    Spooled,

    /// <summary>Once it is in the store.</summary>
    Strict,
}
