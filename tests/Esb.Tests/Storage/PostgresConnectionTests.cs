using Esb.Storage;
using Esb.Storage.Postgres;
using Npgsql;

namespace Esb.Tests.Storage;

public sealed class PostgresConnectionTests
{
    [Test]
    public void Connections_of_the_store_are_few_and_keep_prepared_statements()
    {
        var parts = PartsOf("Host=db;Username=esb");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(parts.MaxPoolSize, Is.LessThanOrEqualTo(16));
            Assert.That(parts.MaxAutoPrepare, Is.GreaterThanOrEqualTo(50));
            Assert.That(parts.NoResetOnClose, Is.True);
            Assert.That(parts.KeepAlive, Is.EqualTo(15));
            Assert.That(parts.ApplicationName, Is.EqualTo("esb"));
        }
    }

    [Test]
    public void What_the_operator_writes_into_the_connection_string_holds()
    {
        var parts = PartsOf(
            "Host=db;Maximum Pool Size=3;Max Auto Prepare=0;No Reset On Close=false;Keepalive=0;Application Name=shop;Options=-c work_mem=8MB"
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That(parts.MaxPoolSize, Is.EqualTo(3));
            Assert.That(parts.MaxAutoPrepare, Is.Zero);
            Assert.That(parts.NoResetOnClose, Is.False);
            Assert.That(parts.KeepAlive, Is.Zero);
            Assert.That(parts.ApplicationName, Is.EqualTo("shop"));
            Assert.That(parts.Options, Does.StartWith("-c work_mem=8MB "));
        }
    }

    private static NpgsqlConnectionStringBuilder PartsOf(string connection) =>
        new(PostgresConnection.With(new PostgresStoreConfig { Connection = connection }, readOnly: false));
}
