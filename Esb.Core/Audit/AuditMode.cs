namespace Esb.Core.Audit;

/// <summary>Point at which an audit fact counts as recorded.</summary>
public enum AuditMode
{
    /// <summary>On a disk of this machine; the fact is moved to the store later.</summary>
    Spooled,

    /// <summary>In the store.</summary>
    Strict,
}
