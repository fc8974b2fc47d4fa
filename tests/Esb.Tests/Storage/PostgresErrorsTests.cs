using System.Net.Sockets;
using Esb.Core.Errors;
using Esb.Storage.Postgres;
using Npgsql;

namespace Esb.Tests.Storage;

public sealed class PostgresErrorsTests
{
    // As Npgsql 10.0.0 throws it when it reads the answer to a cancelled command instead of its own.
    [TestCase("Npgsql", ExpectedResult = true), TestCase("Esb.Storage", ExpectedResult = false)]
    public bool Exception_without_a_type_of_its_own_is_a_failure_of_the_database_where_the_client_threw_it(string source) =>
        PostgresErrors.IsFailure(
            new Exception("Received backend message ReadyForQuery while expecting BindComplete. Please file a bug.") { Source = source }
        );

    [Test]
    public void Exception_of_a_type_that_somebody_else_throws_is_none() =>
        Assert.That(PostgresErrors.IsFailure(new InvalidOperationException("Not of the database.") { Source = "Npgsql" }), Is.False);

    [TestCase(PostgresErrorCodes.AdminShutdown, ExpectedResult = true)]
    [TestCase(PostgresErrorCodes.CrashShutdown, ExpectedResult = true)]
    [TestCase(PostgresErrorCodes.TooManyConnections, ExpectedResult = false)]
    [TestCase(PostgresErrorCodes.DeadlockDetected, ExpectedResult = false)]
    public bool Only_a_session_that_ended_is_followed_by_another(string state) => PostgresErrors.IsLostSession(Answer(state));

    [Test]
    public void Database_that_is_slow_is_not_asked_twice() =>
        Assert.That(
            PostgresErrors.IsLostSession(new NpgsqlException("Exception while reading from stream", new TimeoutException())),
            Is.False
        );

    [Test]
    public void Callers_learn_whether_the_database_is_away_slow_or_refuses()
    {
        Exception[] failures =
        [
            new SocketException((int)SocketError.ConnectionRefused),
            new NpgsqlException("Exception while reading from stream", new TimeoutException()),
            Answer(PostgresErrorCodes.InsufficientPrivilege),
        ];

        var told = failures.Select(PostgresErrors.NotServed).ToList();

        Assert.That(told.Select(failure => (failure.Code, failure.Kind)), Is.All.EqualTo(("ESB-STORE-AWAY", FaultKind.Unavailable)));
        Assert.That(
            told.Select(failure => failure.Message),
            Is.EqualTo(
                new[]
                {
                    "The store cannot be reached.",
                    "The database did not answer in time.",
                    "The database does not do what it is asked (SQLSTATE 42501).",
                }
            )
        );
    }

    private static PostgresException Answer(string state) => new("card 4111 is secret", "ERROR", "ERROR", state);
}
