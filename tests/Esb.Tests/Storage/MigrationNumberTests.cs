using Esb.Storage.Postgres;

namespace Esb.Tests.Storage;

/// <summary>Each migration has a number of its own: a database keeps the numbers, and runs each once.</summary>
public sealed class MigrationNumberTests
{
    [Test]
    public void No_two_migrations_have_the_same_number()
    {
        var numbers = typeof(PostgresSchema).Assembly.GetManifestResourceNames().Select(name => name[..4]).ToList();

        Assert.That(numbers, Is.Not.Empty.And.Unique);
    }
}
