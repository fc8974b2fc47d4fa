using System.Globalization;
using System.Text.RegularExpressions;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Npgsql;

namespace Esb.Endpoints.Sql;

/// <summary>Maps the error codes of PostgreSQL (manual, appendix A) to failures. Its own texts may repeat values of a message, so they go
/// to logs only.</summary>
internal static partial class PostgresFailures
{
    private const string ConnectionCode = "ESB-SQL-CONNECTION";

    /// <summary>No answer arrived.</summary>
    public static readonly DatabaseFailure Unreachable = Outage("The database cannot be reached.");

    /// <summary>The answer belongs to another request, as after a cancelled command. The client has closed the connection; others
    /// work.</summary>
    public static readonly DatabaseFailure OutOfStep = new(
        ConnectionCode,
        "The connection to the database fell out of step and was closed.",
        FaultKind.Outside,
        IsTransient: true
    );

    /// <summary>Maps a refusal to a failure.</summary>
    public static DatabaseFailure Explain(PostgresException cause, IReadOnlyList<string> parameters) =>
        cause.SqlState switch
        {
            PostgresErrorCodes.DeadlockDetected or PostgresErrorCodes.SerializationFailure or PostgresErrorCodes.LockNotAvailable => new(
                "ESB-SQL-TRANSIENT",
                $"The database gave way to another transaction (SQLSTATE {cause.SqlState}).",
                FaultKind.Unavailable,
                IsTransient: true
            ),
            "ESB03" => Tables("once and singleInstance need the isolation level read committed, and the database's default is another"),
            "ESB04" => new(
                IFencedEndpoint.FencingCode,
                "Another host has taken over; nothing took effect.",
                FaultKind.Unavailable,
                IsTransient: true
            ),
            PostgresErrorCodes.CheckViolation when cause is { ConstraintName: null, SchemaName: "esb" } => Tables(
                "they have no partition for today"
            ),
            PostgresErrorCodes.UndefinedFunction
            or PostgresErrorCodes.UndefinedTable
            or PostgresErrorCodes.InvalidSchemaName when cause.MessageText.Contains("esb.", StringComparison.Ordinal) => Tables(
                "they are no longer there"
            ),
            PostgresErrorCodes.QueryCanceled => new(
                "ESB-SQL-TIMEOUT",
                "The database stopped the command, which took too long.",
                FaultKind.Timeout,
                IsTransient: true
            ),
            PostgresErrorCodes.ReadOnlySqlTransaction => Outage("The database takes no changes now.") with { NeedsNewConnections = true },
            PostgresErrorCodes.InvalidCatalogName => Outage("The database does not exist on its server."),
            ['2', '3', ..] => new(
                "ESB-SQL-CONSTRAINT",
                $"The database refused the values: they break the constraint {Constraint(cause)} (SQLSTATE {cause.SqlState}).",
                FaultKind.Invalid
            ),
            ['2', '2', ..] => new(
                "ESB-SQL-VALUE",
                $"{Parameter(cause, parameters)} does not fit {TypeOf(cause)} (SQLSTATE {cause.SqlState}).",
                FaultKind.Invalid
            ),
            ['2', '8', ..] => Outage("The database refused the user or its password."),
            ['5', '3', ..] => Outage($"The database has no resources left (SQLSTATE {cause.SqlState}).") with
            {
                Kind = FaultKind.Unavailable,
            },
            ['0', '8', ..] or ['5', '7', 'P', ..] or ['5', '8', ..] => Outage(
                $"The database is going down or coming up (SQLSTATE {cause.SqlState})."
            ),
            _ when IsEnd(cause) => new(
                ConnectionCode,
                $"The database ended the connection (SQLSTATE {cause.SqlState}).",
                FaultKind.Outside,
                IsTransient: true
            ),
            _ => new(
                "ESB-SQL-COMMAND",
                $"The database refused the command (SQLSTATE {cause.SqlState}{Position(cause)}).",
                FaultKind.Internal,
                cause.IsTransient
            ),
        };

    /// <summary>True if the server ended the connection with this answer, whatever the request.</summary>
    public static bool IsEnd(PostgresException cause) => cause.InvariantSeverity is "FATAL" or "PANIC";

    private static DatabaseFailure Outage(string sentence) =>
        new(ConnectionCode, sentence, FaultKind.Outside, IsTransient: true, IsOutage: true);

    // An outage, not a failure of the message: it must be neither applied without its record nor given up.
    private static DatabaseFailure Tables(string obstacle) =>
        new(
            "ESB-SQL-INBOX",
            $"The tables of once, transaction and singleInstance cannot be used: {obstacle}.",
            FaultKind.Unavailable,
            IsTransient: true,
            IsOutage: true
        );

    private static string Constraint(PostgresException cause) =>
        cause.ConstraintName ?? (cause.ColumnName is { } column ? $"not null of {column}" : "of a table");

    private static string Position(PostgresException cause) =>
        cause.Position == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $", position {cause.Position}");

    // Newer servers name the parameter; older ones do not if there are several.
    private static string Parameter(PostgresException cause, IReadOnlyList<string> parameters)
    {
        var told = ParameterNumber().Match(cause.Where ?? "");
        var index = told.Success ? int.Parse(told.Groups["number"].ValueSpan, CultureInfo.InvariantCulture) - 1 : 0;
        return (told.Success || parameters.Count == 1) && index < parameters.Count
            ? $"The value of the parameter @{parameters[index]}"
            : $"A value of the parameters {string.Join(", ", parameters.Select(name => $"@{name}"))}";
    }

    private static string TypeOf(PostgresException cause) =>
        TypeName().Match(cause.MessageText) is { Success: true } match
            ? $"the type {match.Groups["type"].Value}"
            : "its type in the database";

    [GeneratedRegex(@"parameter \$(?<number>\d{1,5})")]
    private static partial Regex ParameterNumber();

    [GeneratedRegex(@"type (?<type>[a-z][a-z ]*(?:\(\d+(?:,\d+)?\))?)")]
    private static partial Regex TypeName();
}
