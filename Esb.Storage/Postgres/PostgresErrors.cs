using Esb.Core.Errors;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>What the errors of the database mean here.</summary>
internal static class PostgresErrors
{
    /// <summary>Whether the database could not be reached or asked.</summary>
    public static bool IsFailure(Exception exception) => exception is NpgsqlException or TimeoutException or System.Net.Sockets.SocketException || IsOutOfStep(exception);

    /// <summary>Whether the rows themselves are refused (classes 22, data exception, and 23, integrity constraint), so that asking again is useless.</summary>
    public static bool IsRefusal(Exception exception) =>
        exception is PostgresException { SqlState: var state } && (state.StartsWith("22", StringComparison.Ordinal) || state.StartsWith("23", StringComparison.Ordinal));

    /// <summary>Whether the partition of a row is missing.</summary>
    public static bool IsMissingPartition(Exception exception) =>
        exception is PostgresException { SqlState: PostgresErrorCodes.CheckViolation, ConstraintName: null };

    /// <summary>Whether a pooled session ended, which says nothing of the database; one that is slow, or full, is not asked twice.</summary>
    public static bool IsLostSession(Exception exception) => exception switch
    {
        PostgresException { SqlState: var state } => state is PostgresErrorCodes.AdminShutdown or PostgresErrorCodes.CrashShutdown,
        NpgsqlException { IsTransient: true, InnerException: not TimeoutException } => true,
        _ => false,
    };

    /// <summary>What callers are told. Of an answer only its SQLSTATE, as its text may quote rows: that is in the inner exception.</summary>
    public static EsbException NotServed(Exception exception) => exception switch
    {
        PostgresException { SqlState: var state } => new EsbException("ESB-STORE-AWAY", $"The database does not do what it is asked (SQLSTATE {state}).", FaultKind.Unavailable, exception),
        TimeoutException or NpgsqlException { InnerException: TimeoutException } => new EsbException("ESB-STORE-AWAY", "The database did not answer in time.", FaultKind.Unavailable, exception),
        _ => StoreErrors.NotReached(exception),
    };

    /// <summary>The failure in a few words, for health; no address and no secret.</summary>
    public static string Describe(Exception exception) => exception switch
    {
        EsbException { InnerException: { } inner } => Describe(inner),
        EsbException esb => esb.Message,
        PostgresException postgres => $"the database says {postgres.SqlState}: {postgres.MessageText}",
        _ => "the database cannot be reached",
    };

    // An answer to another question, as after a cancelled command: the client closes the connection, and has no type of its own for that.
    private static bool IsOutOfStep(Exception exception) => exception.GetType() == typeof(Exception) && exception.Source == "Npgsql";
}
