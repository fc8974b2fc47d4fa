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
