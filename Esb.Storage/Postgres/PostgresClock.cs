using Dapper;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Compares the clock of this host with the clock of the database, which decides what is old enough to drop: a host with a wrong
/// clock would drop data of all hosts. Thread-safe.</summary>
/// <param name="time">The clock of this host.</param>
/// <param name="logger">Logs a clock that is ahead.</param>
internal sealed partial class PostgresClock(TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan UsualDifference = TimeSpan.FromMinutes(1);

    /// <summary>The time by which this host is ahead; zero if it is not.</summary>
    public async Task<TimeSpan> AdvanceAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        var here = time.GetUtcNow();
        var ahead =
            here
            - await connection.ExecuteScalarAsync<DateTime>(
                new CommandDefinition("select clock_timestamp()", cancellationToken: cancellationToken)
            );
        if (ahead > UsualDifference)
            LogAhead(ahead);
        return ahead > TimeSpan.Zero ? ahead : TimeSpan.Zero;
    }

    [LoggerMessage(
        EventId = 4550,
        Level = LogLevel.Error,
        Message = "The clock of this host is {Ahead} ahead of the database's; retention follows the database's"
    )]
    private partial void LogAhead(TimeSpan ahead);
}
