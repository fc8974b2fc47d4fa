using System.Net;
using System.Text.Json;
using Dapper;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The database sample on a real RabbitMQ and a real PostgreSQL, unchanged.</summary>
public sealed class DatabaseSampleTests
{
    private const int Clients = 50;

    private DirectoryInfo _folder = null!;
    private NpgsqlDataSource _database = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _database = NpgsqlDataSource.Create(Servers.Postgres);
        await using var connection = await _database.OpenConnectionAsync();
        await connection.ExecuteAsync(await File.ReadAllTextAsync(Repository.PathOf("samples", "database", "tables.sql")));
        await connection.ExecuteAsync("truncate orders_in");
        _folder = Directory.CreateTempSubdirectory("esb-database-");
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "database"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB_POSTGRES"] = Servers.Postgres,
                ["ESB__TRANSPORT__PREFIX"] = $"test-{Guid.NewGuid():N}",
            }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _database.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(60_000)]
    public async Task Customers_of_a_country_are_answered_over_a_topic(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/customers", """{"country":"Germany"}""", "application/json", cancellationToken);

        var rows = JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken)).RootElement;
        Assert.Multiple(() =>
        {
            Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
            Assert.That(rows.GetArrayLength(), Is.EqualTo(20));
            Assert.That(rows.EnumerateArray().Select(row => row.GetProperty("country").GetString()), Is.All.EqualTo("Germany"));
        });
    }

    [Category("Thorough")]
    [TestCase(4_000), TestCase(20_000, Category = "Soak"), CancelAfter(120_000)]
    public async Task Orders_of_fifty_clients_are_as_many_rows(int orders, CancellationToken cancellationToken)
    {
        await using var connection = await _database.OpenConnectionAsync(cancellationToken);
        await connection.ExecuteAsync("truncate orders_in"); // of the other case

        await Parallel.ForEachAsync(
            Enumerable.Range(0, orders),
            new ParallelOptions { MaxDegreeOfParallelism = Clients, CancellationToken = cancellationToken },
            async (number, token) =>
            {
                using var response = await _host.PostAsync("/orders", $$"""{"order":{{number}}}""", "application/json", token);
                Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
            }
        );

        var rows = 0L;
        await _host.WaitAsync(
            async _ => (rows = await connection.ExecuteScalarAsync<long>("select count(*) from orders_in")) >= orders,
            TimeSpan.FromSeconds(60),
            "to insert every order",
            cancellationToken
        );
        Assert.That(rows, Is.EqualTo(orders));
        Assert.That(await connection.ExecuteScalarAsync<long>("select count(distinct body) from orders_in"), Is.EqualTo(orders));
    }
}
