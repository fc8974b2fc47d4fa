using Esb.Core.Errors;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Classifies the errors of the database.</summary>
internal static class PostgresErrors
{
    /// <summary>True if the database could not be reached or queried.</summary>
    public static bool IsFailure(Exception exception) =>
        exception is NpgsqlException or TimeoutException or System.Net.Sockets.SocketException || IsOutOfStep(exception);

    /// <summary>True if the rows themselves are refused (classes 22, data exception, and 23, integrity constraint), so that a retry is
    /// useless.</summary>
    public static bool IsRefusal(Exception exception) =>
        exception is PostgresException { SqlState: var state }
        && (state.StartsWith("22", StringComparison.Ordinal) || state.StartsWith("23", StringComparison.Ordinal));

    /// <summary>True if the partition of a row is missing.</summary>
    public static bool IsMissingPartition(Exception exception) =>
        exception is PostgresException { SqlState: PostgresErrorCodes.CheckViolation, ConstraintName: null };

    /// <summary>True if a pooled session was lost, which says nothing about the database; a slow or full database is not asked
    /// twice.</summary>
    public static bool IsLostSession(Exception exception) =>
        exception switch
        {
            PostgresException { SqlState: var state } => state is PostgresErrorCodes.AdminShutdown or PostgresErrorCodes.CrashShutdown,
            NpgsqlException { IsTransient: true, InnerException: not TimeoutException } => true,
            _ => false,
        };

    /// <summary>The error for callers. It shows only the SQLSTATE of a database error, whose text may quote rows; the text is in the inner
    /// exception.</summary>
    public static EsbException NotServed(Exception exception) =>
        exception switch
        {
            PostgresException { SqlState: var state } => new EsbException(
                "ESB-STORE-AWAY",
                $"The database does not do what it is asked (SQLSTATE {state}).",
                FaultKind.Unavailable,
                exception
            ),
            TimeoutException or NpgsqlException { InnerException: TimeoutException } => new EsbException(
                "ESB-STORE-AWAY",
                "The database did not answer in time.",
                FaultKind.Unavailable,
                exception
            ),
            _ => StoreErrors.NotReached(exception),
        };

    /// <summary>A short description of the failure for health checks, without addresses and secrets.</summary>
    public static string Describe(Exception exception) =>
        exception switch
        {
            EsbException { InnerException: { } inner } => Describe(inner),
            EsbException esb => esb.Message,
            PostgresException postgres => $"the database says {postgres.SqlState}: {postgres.MessageText}",
            _ => "the database cannot be reached",
        };

    // A reply to another query, as after a cancelled command: the client closes the connection, and has no exception type of its own for
    // that.
    private static bool IsOutOfStep(Exception exception) => exception.GetType() == typeof(Exception) && exception.Source == "Npgsql";
}
