using Esb.Core.Errors;
using Microsoft.Data.Sqlite;

namespace Esb.Storage.Sqlite;

/// <summary>Classifies the errors of SQLite (https://www.sqlite.org/rescode.html).</summary>
internal static class SqliteErrors
{
    private const int Interrupted = 9;
    private const int Corrupt = 11;
    private const int Constraint = 19;
    private const int NotADatabase = 26;

    public static bool IsFailure(Exception exception) => exception is SqliteException || StoreErrors.IsWriteFailure(exception);

    /// <summary>True if the values themselves are refused.</summary>
    public static bool IsRefusal(Exception exception) => exception is SqliteException { SqliteErrorCode: Constraint };

    /// <summary>The error for callers that write.</summary>
    public static EsbException NotWritten(Exception exception) => Known(exception) ?? StoreErrors.NotWritten(exception);

    /// <summary>The error for callers that read.</summary>
    public static EsbException NotRead(Exception exception) => Known(exception) ?? StoreErrors.NotReached(exception);

    public static EsbException Damaged(string path, string what, Exception? inner = null) =>
        new(
            "ESB-STORE-DAMAGED",
            $"The database '{path}' of the store is damaged: {what}. Restore it from a copy, or move it away to begin with an empty store.",
            FaultKind.Internal,
            inner
        );

    private static EsbException? Known(Exception exception) =>
        exception switch
        {
            SqliteException { SqliteErrorCode: Corrupt or NotADatabase } => new EsbException(
                "ESB-STORE-DAMAGED",
                "The database of the store is damaged.",
                FaultKind.Internal,
                exception
            ),
            SqliteException { SqliteErrorCode: Interrupted } => new EsbException(
                "ESB-STORE-AWAY",
                "The question took longer than a reader beside a host may; ask for less.",
                FaultKind.Unavailable,
                exception
            ),
            _ => null,
        };
}
