using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Clients;
using Esb.Endpoints.Sql.Inbound;
using Esb.Tests;
using Esb.Tests.Endpoints.Contracts;
using Esb.Tests.Endpoints.Files;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Sql;

/// <summary>The provider mysql on a real MariaDB.</summary>
[CancelAfter(180_000)]
public sealed class MySqlTests
{
    private const int MaxBodyBytes = 64 * 1024;

    private MariaDb _server = null!;
    private Database _database = null!;

    [OneTimeSetUp]
    public async Task StartServer()
    {
        _server = await MariaDb.StartAsync();
        var provider = new ClientProvider(new MySqlClient());
        _database = new Database(
            "shop",
            provider,
            provider.Open(new ConnectionConfig { Provider = "mysql", Connection = _server.ConnectionString }, maxPoolSize: 4),
            maxPoolSize: 4
        );
        await _server.ExecuteAsync(
            """
            create table orders (id char(36) primary key, body text not null);
            create table jobs (id int primary key, note varchar(20), taken boolean not null default false);
            create procedure totals(in factor int, out total int) begin select id, note from jobs order by id; select count(*) as n from jobs; set total = factor * 2; end
            """
        );
    }

    [OneTimeTearDown]
    public async Task StopServer()
    {
        await _database.DisposeAsync();
        await _server.DisposeAsync();
    }

    [SetUp]
    public Task Empty() =>
        _server.ExecuteAsync("delete from orders; delete from jobs; insert into jobs (id, note) values (1, 'Käse'), (2, 'b')");

    [Test]
    public async Task Row_goes_in_and_comes_out(CancellationToken cancellationToken)
    {
        await Endpoint(execute: "insert into orders values (@id, @body)")
            .SendAsync(Some.Message("""{ "id": "A-1", "body": "'; drop table orders; -- Käse" }"""), cancellationToken);

        var answer = await Endpoint("select body from orders where id = @id")
            .SendAsync(Some.Message("""{ "id": "A-1" }"""), cancellationToken);

        Assert.That(answer!.Body.ReadText(), Is.EqualTo("""[{"body":"'; drop table orders; -- Käse"}]"""));
    }

    [Test, Category("Thorough")]
    public async Task Statements_of_a_command_take_effect_together_or_not_at_all(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(execute: "insert into orders values (@id, 'first'); insert into orders values (@id, 'second')");

        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await endpoint.SendAsync(Some.Message("""{ "id": "A-1" }"""), cancellationToken)
        )!;

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SQL-CONSTRAINT", false)));
        Assert.That(await _server.ReadAsync("select body from orders"), Is.Empty);
    }

    [Test, Category("Thorough")]
    public async Task Procedure_gives_result_sets_and_output_values(CancellationToken cancellationToken)
    {
        var config = new SqlOutboundConfig
        {
            Name = "db",
            Path = "endpoints.db",
            Connection = "shop",
            Procedure = "totals",
            Parameters = new Dictionary<string, SqlParameterConfig>
            {
                ["factor"] = new() { Jsonpath = "$.factor" },
                ["total"] = new() { Direction = SqlDirection.Out },
            },
        };

        var answer = await Endpoint(config).SendAsync(Some.Message("""{ "factor": "21" }"""), cancellationToken);

        Assert.That(
            answer!.Body.ReadText(),
            Does.StartWith("""{"results":[[{"id":1,"note":"Käse"},{"id":2,"note":"b"}],[{"n":2}]],"out":{"total":""").And.Contain("42")
        );
    }

    [Test, Category("Thorough")]
    public async Task Command_runs_at_its_isolation_level(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(Config("select count(*) as n from jobs where id > @id") with { Isolation = SqlIsolation.Serializable });

        var answer = await endpoint.SendAsync(Some.Message("""{ "id": 0 }"""), cancellationToken);

        Assert.That(answer!.Body.ReadText(), Is.EqualTo("""[{"n":2}]"""));
    }

    [
        TestCase("select * from missing where id = @id", "ESB-SQL-COMMAND", false),
        TestCase("insert into jobs (id) values (@id)", "ESB-SQL-CONSTRAINT", false)
    ]
    [TestCase("insert into jobs (id, note) values (9, concat(@id, 'much too long for the column'))", "ESB-SQL-VALUE", false)]
    [Category("Thorough")]
    public void Refusal_is_told_by_its_kind(string execute, string code, bool isTransient, CancellationToken cancellationToken)
    {
        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await Endpoint(execute: execute).SendAsync(Some.Message("""{ "id": 1 }"""), cancellationToken)
        )!;

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo((code, isTransient)), failure.ToString());
    }

    [Test, Category("Thorough")]
    public async Task Rows_are_taken_and_marked_in_one_transaction(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        var failing = true;
        intake.Answer = (_, _) =>
            failing
                ? throw new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable)
                : Task.FromResult(Task.CompletedTask);
        var (query, after) = (
            SqlText.Parse("select id, note from jobs where not taken order by id limit 10 for update"),
            SqlText.Parse("update jobs set taken = true where id = @id")
        );
        var config = new SqlInboundConfig
        {
            Name = "taker",
            Connection = "shop",
            Query = "q",
            After = "a",
            Publish = Core.Topics.Subject.Parse("jobs.new"),
        };
        var taker = new RowTaker(
            config,
            query,
            after,
            _database,
            null!,
            intake,
            MaxBodyBytes,
            TimeProvider.System,
            NullLogger<RowTaker>.Instance
        );

        Assert.That(() => taker.TakeAsync(cancellationToken), Throws.TypeOf<EsbException>());
        var unmarked = await _server.ReadAsync("select id from jobs where not taken order by id");
        failing = false;
        var taken = await taker.TakeAsync(cancellationToken);

        Assert.That(
            (string.Join(' ', unmarked), taken, (await _server.ReadAsync("select id from jobs where not taken")).Count),
            Is.EqualTo(("1 2", 2, 0))
        );
        Assert.That(intake.Bodies.Skip(1), Is.EqualTo(["""{"id":1,"note":"Käse"}""", """{"id":2,"note":"b"}"""]));
        Assert.That(intake.Messages[1].Id, Is.EqualTo(intake.Messages[0].Id), "the same message again");
    }

    [Test, Category("Thorough")]
    public async Task Killed_server_is_an_outage_and_works_again(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint("select count(*) as n from jobs where id > @id");
        await endpoint.SendAsync(Some.Message("""{ "id": 0 }"""), cancellationToken);
        await _server.KillAsync();

        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await endpoint.SendAsync(Some.Message("""{ "id": 0 }"""), cancellationToken)
        )!;
        await _server.StartAgainAsync();
        EsbException? again = null;
        for (var attempt = 0; attempt < 10; attempt++)
        {
            again = null;
            try
            {
                await endpoint.SendAsync(Some.Message("""{ "id": 0 }"""), cancellationToken);
                break;
            }
            catch (EndpointException ex)
            {
                again = ex; // each pooled connection fails once
            }
        }

        Assert.That((failure.Code, failure.IsTransient, again), Is.EqualTo(("ESB-SQL-CONNECTION", true, default(EsbException))));
    }

    private static SqlOutboundConfig Config(string? query = null, string? execute = null) =>
        new()
        {
            Name = "db",
            Path = "endpoints.db",
            Connection = "shop",
            Query = query,
            Execute = execute,
            Parameters = SqlText
                .Parse((query ?? execute)!)
                .Parameters.ToDictionary(name => name, name => new SqlParameterConfig { Jsonpath = $"$.{name}" }),
        };

    private IOutboundEndpoint Endpoint(string? query = null, string? execute = null) => Endpoint(Config(query, execute));

    private SqlOutboundEndpoint Endpoint(SqlOutboundConfig config)
    {
        var errors = new ConfigErrors();
        var plan = SqlCommandPlan.Compile(config, new PlainExpressions(), MaxBodyBytes, errors);
        Assert.That(errors.All, Is.Empty);
        return new SqlOutboundEndpoint(config, plan!, _database, "shop", MaxBodyBytes, TimeProvider.System);
    }
}
