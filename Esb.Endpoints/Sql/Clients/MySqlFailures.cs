using Esb.Core.Errors;
using Esb.Core.Storage;
using MySqlConnector;

namespace Esb.Endpoints.Sql.Clients;

/// <summary>Maps the error codes of MySQL and MariaDB to failures. Their texts may repeat values of a message, so they go to logs
/// only.</summary>
internal static class MySqlFailures
{
    private const string ConnectionCode = "ESB-SQL-CONNECTION";
    private const int StatementTime = 1969; // MariaDB: max_statement_time
    private const int ReadOnly = 1290; // --read-only, --super-read-only
    private const int CheckViolated = 4025; // MariaDB

    /// <summary>No answer arrived.</summary>
    public static readonly DatabaseFailure Unreachable = Outage("The database cannot be reached.");

    /// <summary>Maps a refusal to a failure.</summary>
    public static DatabaseFailure Explain(MySqlException cause, IReadOnlyList<string> parameters) =>
        cause.ErrorCode switch
        {
            MySqlErrorCode.LockDeadlock or MySqlErrorCode.LockWaitTimeout => new(
                "ESB-SQL-TRANSIENT",
                $"The database gave way to another transaction (error {cause.Number}).",
                FaultKind.Unavailable,
                IsTransient: true
            ),
            MySqlErrorCode.CommandTimeoutExpired or MySqlErrorCode.QueryTimeout or MySqlErrorCode.QueryInterrupted => TooLong,
            MySqlErrorCode.AccessDenied or MySqlErrorCode.DatabaseAccessDenied => Outage("The database refused the user or its password."),
            MySqlErrorCode.UnknownDatabase => Outage("The database does not exist on its server."),
            MySqlErrorCode.TooManyUserConnections or MySqlErrorCode.ConnectionCountError => Outage(
                $"The database has no resources left (error {cause.Number})."
            ) with
            {
                Kind = FaultKind.Unavailable,
            },
            MySqlErrorCode.UnableToConnectToHost => Unreachable,
            _ => cause.Number switch
            {
                StatementTime => TooLong,
                ReadOnly => Outage("The database takes no changes now.") with { NeedsNewConnections = true },
                CheckViolated => Constraint(cause),
                _ => ExplainState(cause, parameters),
            },
        };

    private static DatabaseFailure TooLong =>
        new("ESB-SQL-TIMEOUT", "The database stopped the command, which took too long.", FaultKind.Timeout, IsTransient: true);

    // A failure of the client itself, such as a lost connection, has no state.
    private static DatabaseFailure ExplainState(MySqlException cause, IReadOnlyList<string> parameters) =>
        cause.SqlState switch
        {
            null or "" => new(
                ConnectionCode,
                "The connection to the database was lost.",
                FaultKind.Outside,
                IsTransient: true,
                IsOutage: true
            ),
            ['2', '3', ..] => Constraint(cause),
            ['2', '2', ..] => Value(cause, parameters),
            ['4', '0', ..] => new(
                "ESB-SQL-TRANSIENT",
                $"The database gave way to another transaction (SQLSTATE {cause.SqlState}).",
                FaultKind.Unavailable,
                IsTransient: true
            ),
            ['2', '8', ..] => Outage("The database refused the user or its password."),
            ['0', '8', ..] => Outage($"The database is going down or coming up (SQLSTATE {cause.SqlState})."),
            "70100" => new(ConnectionCode, "The database ended the connection.", FaultKind.Outside, IsTransient: true),
            _ => cause.ErrorCode
                is MySqlErrorCode.TruncatedWrongValueForField
                    or MySqlErrorCode.WarningDataOutOfRange
                    or MySqlErrorCode.DataTooLong
                ? Value(cause, parameters)
                : new(
                    "ESB-SQL-COMMAND",
                    $"The database refused the command (error {cause.Number}, SQLSTATE {cause.SqlState}).",
                    FaultKind.Internal,
                    cause.IsTransient
                ),
        };

    private static DatabaseFailure Constraint(MySqlException cause) =>
        new("ESB-SQL-CONSTRAINT", $"The database refused the values: they break a constraint (error {cause.Number}).", FaultKind.Invalid);

    private static DatabaseFailure Value(MySqlException cause, IReadOnlyList<string> parameters) =>
        new(
            "ESB-SQL-VALUE",
            $"A value of the parameters {string.Join(", ", parameters.Select(name => $"@{name}"))} does not fit its type in the "
                + $"database (error {cause.Number}).",
            FaultKind.Invalid
        );

    private static DatabaseFailure Outage(string sentence) =>
        new(ConnectionCode, sentence, FaultKind.Outside, IsTransient: true, IsOutage: true);
}
