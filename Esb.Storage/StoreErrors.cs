using System.Threading.Channels;
using Esb.Core.Errors;

namespace Esb.Storage;

/// <summary>Errors for callers when a store fails.</summary>
internal static class StoreErrors
{
    /// <summary>True if segments could not be written: the disk failed, or the store is stopping.</summary>
    public static bool IsWriteFailure(Exception exception) =>
        exception is IOException or UnauthorizedAccessException or ChannelClosedException;

    public static EsbException AuditNotWritten(Exception inner) =>
        new("ESB-AUD-WRITE", "The audit fact could not be written.", FaultKind.Unavailable, inner);

    public static EsbException SpoolFull() => new("ESB-AUD-FULL", "The spool of the audit is full.", FaultKind.Unavailable);

    public static EsbException AuditRefused(Exception inner) =>
        new("ESB-AUD-WRITE", "The audit store refuses the fact.", FaultKind.Internal, inner);

    public static EsbException NotAnchored(Exception inner) =>
        new("ESB-AUD-ANCHORS", "The anchor could not be written, so nothing was removed.", FaultKind.Unavailable, inner);

    public static EsbException NotWritten(Exception inner) =>
        new("ESB-STORE-WRITE", "The store could not be written.", FaultKind.Unavailable, inner);

    public static EsbException NotReached(Exception inner) =>
        new("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable, inner);
}
