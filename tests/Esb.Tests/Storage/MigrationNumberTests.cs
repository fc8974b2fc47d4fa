using Esb.Storage.Sql;

namespace Esb.Tests.Storage;

/// <summary>Each migration has a number of its own: a database keeps the numbers, and runs each once.</summary>
public sealed class MigrationNumberTests
{
    [TestCase("postgres"), TestCase("sqlite")]
    public void No_two_migrations_have_the_same_number(string kind) =>
        Assert.That(SqlMigration.Of(kind).Select(migration => migration.Number), Is.Not.Empty.And.Unique);
}
