using Esb.Storage.Postgres;

namespace Esb.Tests.Storage;

public sealed class PostgresErrorsTests
{
    // As Npgsql 10.0.0 throws it when it reads the answer to a cancelled command instead of its own.
    [TestCase("Npgsql", ExpectedResult = true), TestCase("Esb.Storage", ExpectedResult = false)]
    public bool Exception_without_a_type_of_its_own_is_a_failure_of_the_database_where_the_client_threw_it(string source) =>
        PostgresErrors.IsFailure(new Exception("Received backend message ReadyForQuery while expecting BindComplete. Please file a bug.") { Source = source });

    [Test]
    public void Exception_of_a_type_that_somebody_else_throws_is_none() =>
        Assert.That(PostgresErrors.IsFailure(new InvalidOperationException("Not of the database.") { Source = "Npgsql" }), Is.False);
}
