using System.Net.Sockets;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Endpoints.Sql;
using Npgsql;

namespace Esb.Tests.Endpoints.Sql;

[TestFixture]
internal sealed class NpgsqlProviderTests
{
    [TestCase("Host=db.example.org;Username=postgres;Password=postgres;SSL Mode=VerifyFull", "ESB-CFG-DEFAULTCRED")]
    [TestCase("Host=localhost,10.0.0.7;Username=postgres;Password=postgres;SSL Mode=VerifyFull", "ESB-CFG-DEFAULTCRED")]
    [TestCase("Host=db.example.org;Username=esb;Password=x7;SSL Mode=VerifyFull", null)]
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

    // As Npgsql 10.0.0 throws it when it reads the answer to a cancelled command instead of its own.
    [Test]
    public void Exception_of_the_client_that_has_no_type_of_its_own_is_a_lost_connection_and_no_outage()
    {
        var outOfStep = new Exception("Received backend message ReadyForQuery while expecting BindComplete. Please file a bug.")
        {
            Source = "Npgsql",
        };

        var failure = new NpgsqlProvider().Explain(outOfStep, []);

        Assert.That(
            (failure!.Code, failure.Kind, failure.IsTransient, failure.IsOutage),
            Is.EqualTo(("ESB-SQL-CONNECTION", FaultKind.Outside, true, false))
        );
    }

    // As Npgsql 10.0.0 throws them while the name of the server is resolved, or its addresses are tried.
    [TestCaseSource(nameof(UnreachableServers))]
    public void Server_that_is_not_found_in_time_is_an_outage(Exception cause)
    {
        var failure = new NpgsqlProvider().Explain(cause, []);

        Assert.That((failure!.IsTransient, failure.IsOutage), Is.EqualTo((true, true)));
    }

    private static IEnumerable<Exception> UnreachableServers() =>
        [new TimeoutException(), new SocketException((int)SocketError.HostNotFound), new NpgsqlException("Failed to connect")];

    [Test]
    public void Exception_of_somebody_else_is_not_explained() =>
        Assert.That(new NpgsqlProvider().Explain(new Exception("Not of the client.") { Source = "Esb.Endpoints" }, []), Is.Null);

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
