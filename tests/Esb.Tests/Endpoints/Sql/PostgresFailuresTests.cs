using Esb.Core.Errors;
using Esb.Endpoints.Sql;
using Npgsql;

namespace Esb.Tests.Endpoints.Sql;

[TestFixture]
internal sealed class PostgresFailuresTests
{
    [TestCase("40001", "ESB-SQL-TRANSIENT", true, false, Description = "SQL-09")]
    [TestCase("40P01", "ESB-SQL-TRANSIENT", true, false, Description = "SQL-09")]
    [TestCase("57014", "ESB-SQL-TIMEOUT", true, false, Description = "SQL-11")]
    [TestCase("57P01", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("57P02", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("57P03", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("57P05", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("58030", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("08P01", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("53300", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("53100", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("28P01", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("3D000", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("25006", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("08006", "ESB-SQL-CONNECTION", true, true)]
    [TestCase("23505", "ESB-SQL-CONSTRAINT", false, false, Description = "SQL-10")]
    [TestCase("22001", "ESB-SQL-VALUE", false, false, Description = "SQL-05")]
    [TestCase("22P02", "ESB-SQL-VALUE", false, false, Description = "SQL-05")]
    [TestCase("42601", "ESB-SQL-COMMAND", false, false, Description = "SQL-08")]
    [TestCase("42P01", "ESB-SQL-COMMAND", false, false, Description = "SQL-08")]
    [TestCase("42501", "ESB-SQL-COMMAND", false, false)]
    [TestCase("P0001", "ESB-SQL-COMMAND", false, false)]
    public void Code_decides_whether_to_try_again(string sqlState, string code, bool isTransient, bool isOutage)
    {
        var failure = PostgresFailures.Explain(new PostgresException("secret value", "ERROR", "ERROR", sqlState), ["id"]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That((failure.Code, failure.IsTransient, failure.IsOutage), Is.EqualTo((code, isTransient, isOutage)));
            Assert.That(failure.Sentence, Does.EndWith(".").And.Not.Contain("secret"));
        }
    }

    // 25P03: idle in a transaction for longer than the server allows; 25P04: the transaction took too long; XX000: anything inside of it.
    [TestCase("25P03", "FATAL"), TestCase("25P04", "FATAL"), TestCase("XX000", "FATAL"), TestCase("XX000", "PANIC")]
    public void Answer_that_ends_the_connection_is_tried_again(string sqlState, string severity)
    {
        var failure = PostgresFailures.Explain(new PostgresException("", severity, severity, sqlState), []);

        Assert.That((failure.Code, failure.IsTransient, failure.IsOutage), Is.EqualTo(("ESB-SQL-CONNECTION", true, false)));
    }

    [TestCase("57P01", FaultKind.Outside), TestCase("28P01", FaultKind.Outside), TestCase("08006", FaultKind.Outside)]
    [TestCase("53300", FaultKind.Unavailable), TestCase("40P01", FaultKind.Unavailable), TestCase("57014", FaultKind.Timeout)]
    public void Caller_hears_whether_the_database_is_away_overloaded_or_slow(string sqlState, FaultKind kind) =>
        Assert.That(PostgresFailures.Explain(new PostgresException("", "ERROR", "ERROR", sqlState), []).Kind, Is.EqualTo(kind));

    [Test, Property("Case", "SQL-05")]
    public void Parameter_that_does_not_fit_is_named_with_its_type_and_without_its_value()
    {
        var cause = new PostgresException(
            "invalid input syntax for type integer: \"secret\"",
            "ERROR",
            "ERROR",
            "22P02",
            where: "unnamed portal parameter $2 = 'secret'"
        );

        var failure = PostgresFailures.Explain(cause, ["name", "age"]);

        Assert.That(failure.Sentence, Is.EqualTo("The value of the parameter @age does not fit the type integer (SQLSTATE 22P02)."));
    }
}
