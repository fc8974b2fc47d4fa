using Esb.Core.Configuration;
using Esb.Core.Storage;
using Esb.Endpoints.Sql;
using Npgsql;

namespace Esb.Tests.Endpoints.Sql;

[TestFixture]
internal sealed class NpgsqlProviderTests
{
    [TestCase("Host=db.example.org;Username=postgres;Password=postgres", "ESB-CFG-DEFAULTCRED")]
    [TestCase("Host=localhost,10.0.0.7;Username=postgres;Password=postgres", "ESB-CFG-DEFAULTCRED")]
    [TestCase("Host=db.example.org;Username=esb;Password=x7", null)]
    [TestCase("Host=127.0.0.1;Username=postgres;Password=postgres", null)]
    [TestCase("Host=localhost:5433;Username=postgres;Password=postgres", null)]
    [TestCase("Host=::1;Username=postgres;Password=postgres", null)]
    [TestCase("Host=/run/postgresql;Username=postgres;Password=postgres", null)]
    [TestCase("Username=esb", "ESB-CFG-VALUE")]
    [TestCase("Host=db;Prot=5432", "ESB-CFG-VALUE")]
    [TestCase("nonsense", "ESB-CFG-VALUE")]
    [Property("Case", "CFG-27")]
    public void Connection_is_checked_without_opening_it(string connection, string? code)
    {
        var errors = new ConfigErrors();

        new NpgsqlProvider().Check(new ConnectionConfig { Path = "connections.shop", Connection = connection }, errors);

        Assert.That(errors.All.Select(error => error.Code), Is.EqualTo(code is null ? Array.Empty<string>() : [code]));
        Assert.That(errors.All.Select(error => error.ToString()), Has.None.Contains("Password=postgres"));
    }

    [TestCase("Host=db;Username=esb", 64)]
    [TestCase("Host=db;Username=esb;Max Auto Prepare=0", 0)]
    [TestCase("Host=db;Username=esb;Max Auto Prepare=7", 7)]
    public async Task Pool_is_small_and_prepares_statements_unless_told_otherwise(string connection, int prepared)
    {
        await using var source = new NpgsqlProvider().Open(new ConnectionConfig { Connection = connection }, maxPoolSize: 5);

        var parts = new NpgsqlConnectionStringBuilder(source.ConnectionString);
        Assert.That((parts.MaxPoolSize, parts.MaxAutoPrepare, parts.Multiplexing), Is.EqualTo((5, prepared, false)));
    }
}
