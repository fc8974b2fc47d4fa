using System.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Batches;
using Esb.Tests;
using Npgsql;

namespace Esb.IntegrationTests.Sql;

[TestFixture, CancelAfter(60_000)]
internal sealed class SqlOutboundEndpointTests
{
    private Shop _shop = null!;

    [SetUp]
    public async Task CreateShop() => _shop = await Shop.CreateAsync();

    [TearDown]
    public async Task DropShop() => await _shop.DisposeAsync();

    [Test]
    public async Task Query_answers_with_its_rows_as_JSON(CancellationToken cancellationToken)
    {
        await _shop.ExecuteAsync(
            """insert into customers values (1, 'Käse', 'France', '2026-01-02 03:04:05+00', 12.5, '{"a": [1, null]}'), (2, 'Tea', 'France', null, null, null), (3, 'No', 'Spain', null, null, null)"""
        );
        var message = Some.Message("""{ "country": "France" }""");

        var reply = await _shop
            .Endpoint(
                query: "select id, name, since, points, details, array[1, 2] as list from customers where country = @country order by id"
            )
            .SendAsync(message, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                reply!.Body.ReadText(),
                Is.EqualTo(
                    """[{"id":1,"name":"Käse","since":"2026-01-02T03:04:05Z","points":12.50,"details":{"a": [1, null]},"list":[1,2]},{"id":2,"name":"Tea","since":null,"points":null,"details":null,"list":[1,2]}]"""
                )
            );
            Assert.That(reply.ContentType, Is.EqualTo("application/json"));
            Assert.That(reply.CorrelationId, Is.EqualTo(message.Id.ToString()));
        }
    }

    [Test]
    public async Task Query_answers_with_its_rows_as_XML(CancellationToken cancellationToken)
    {
        await _shop.ExecuteAsync("insert into customers (id, name) values (1, 'a < b')");

        var reply = await _shop
            .Endpoint(query: "select id, name, country from customers", change: config => config with { As = RowsFormat.Xml })
            .SendAsync(Some.Message(), cancellationToken);

        Assert.That(reply!.Body.ReadText(), Does.EndWith("<rows><row><id>1</id><name>a &lt; b</name></row></rows>"));
        Assert.That(reply.ContentType, Is.EqualTo("application/xml"));
    }

    [Test]
    public async Task Execute_gives_no_answer(CancellationToken cancellationToken) =>
        Assert.That(
            await _shop.Endpoint(execute: "insert into customers (id, name) values (1, 'a')").SendAsync(Some.Message(), cancellationToken),
            Is.Null
        );

    // The first five times unprepared, then prepared: both must take the values alike.
    [Test]
    public async Task Values_fit_the_types_of_their_columns(CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(
            execute: "insert into customers (id, name, country, since, points, details) values (@id, @name, @country, @since, "
                + "@points, @details)"
        );
        for (var id = 1; id <= 12; id++)
        {
            var body =
                $$"""{ "id": {{id}}, "name": {{id}}, "country": true, "since": "2026-01-02T03:04:05+02:00", "points": 19.99, "details": { "a": 1 } }""";
            await endpoint.SendAsync(Some.Message(body), cancellationToken);
        }

        Assert.That(
            await _shop.ReadAsync<string>(
                "select distinct concat_ws(' ', country, points, details, extract(epoch from since)::bigint) from customers",
                cancellationToken
            ),
            Is.EqualTo(["true 19.99 {\"a\": 1} 1767315845"])
        );
        Assert.That(await _shop.ReadAsync<int>("select id from customers where name = id::text", cancellationToken), Has.Count.EqualTo(12));
    }

    [TestCase("select name from customers where id = @value")]
    [TestCase("select name from customers where points < @value")]
    [TestCase("select name from customers where id = @value::int")]
    [TestCase("select name from customers where id::text = @value")]
    [TestCase("select name from customers order by id limit @value")]
    public async Task Number_can_be_compared_with_every_type(string query, CancellationToken cancellationToken)
    {
        await _shop.ExecuteAsync("insert into customers (id, name, points) values (7, 'seven', 1)");

        var reply = await _shop.Endpoint(query: query).SendAsync(Some.Message("""{ "value": 7 }"""), cancellationToken);

        Assert.That(reply!.Body.ReadText(), Is.EqualTo("""[{"name":"seven"}]"""));
    }

    [Test]
    public async Task Optional_value_that_a_message_lacks_is_null(CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(
            execute: "insert into customers (id, name, country) values (@id, 'a', @country)",
            change: config => config with { Optional = ["country"] }
        );

        await endpoint.SendAsync(Some.Message("""{ "id": 1 }"""), cancellationToken);

        Assert.That(await _shop.ReadAsync<bool>("select country is null from customers", cancellationToken), Is.EqualTo([true]));
    }

    [Test]
    public async Task Several_statements_take_effect_together_or_not_at_all(CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(
            execute: "insert into customers (id, name) values (@id, 'a'); insert into customers (id, name) values (@id + 1, @name)"
        );

        await endpoint.SendAsync(Some.Message("""{ "id": 1, "name": "b" }"""), cancellationToken);
        Assert.That(Refusal(endpoint, """{ "id": 10, "name": "longer than ten" }""").Code, Is.EqualTo("ESB-SQL-VALUE"));

        Assert.That(await _shop.ReadAsync<int>("select id from customers order by id", cancellationToken), Is.EqualTo([1, 2]));
    }

    [TestCase("'; drop table customers; --")]
    [TestCase("\\'; drop table customers; --")]
    [TestCase("' or 1=1 --")]
    [Property("Case", "SQL-02")]
    public async Task Text_that_looks_like_SQL_is_stored_as_data(string text, CancellationToken cancellationToken)
    {
        var body = $$"""{ "text": {{System.Text.Json.JsonSerializer.Serialize(text)}} }""";

        await _shop
            .Endpoint(execute: "insert into customers (id, name, country) values (1, 'a', @text)")
            .SendAsync(Some.Message(body), cancellationToken);

        Assert.That(await _shop.ReadAsync<string>("select country from customers", cancellationToken), Is.EqualTo([text]));
    }

    [TestCase("""{ "id": 1, "name": "longer than ten" }""", "character varying(10)")]
    [TestCase("""{ "id": "secret", "name": "a" }""", "integer")]
    [TestCase("""{ "id": 99999999999, "name": "a" }""", "integer")]
    [TestCase("""{ "id": 1.5, "name": "a" }""", "integer")]
    [Property("Case", "SQL-05")]
    public void Value_that_does_not_fit_is_refused_without_being_shown(string body, string type)
    {
        var failure = Refusal(_shop.Endpoint(execute: "insert into customers (id, name) values (@id, @name)"), body);

        using (Assert.EnterMultipleScope())
        {
            Assert.That((failure.Code, failure.IsTransient, failure.Kind), Is.EqualTo(("ESB-SQL-VALUE", false, FaultKind.Invalid)));
            Assert.That(failure.Message, Does.Contain(type).And.Contain("@").And.Not.Contain("secret").And.Not.Contain("longer"));
        }
    }

    [TestCase("selec 1", "42601")]
    [TestCase("select * from missing", "42P01")]
    [TestCase("select * from @id", "42601")]
    [Property("Case", "SQL-08")]
    public void Command_that_the_database_does_not_understand_is_refused_with_code_and_position(string query, string sqlState)
    {
        var failure = Refusal(_shop.Endpoint(query: query), """{ "id": 1 }""");

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SQL-COMMAND", false)));
        Assert.That(failure.Message, Does.Contain($"SQLSTATE {sqlState}, position "));
    }

    [Test, Property("Case", "SQL-09")]
    public async Task Deadlock_is_worth_another_attempt(CancellationToken cancellationToken)
    {
        await _shop.ExecuteAsync("insert into customers (id, name) values (1, 'a'), (2, 'b')");
        var database = _shop.Open();
        string Update(int first, int second) =>
            $"update customers set name = 'x' where id = {first}; select pg_sleep(0.3); update customers set name = 'y' where id = "
            + $"{second}";

        var results = await Task.WhenAll(
            TryAsync(_shop.Endpoint(execute: Update(1, 2), database: database)),
            TryAsync(_shop.Endpoint(execute: Update(2, 1), database: database))
        );

        var failure = results.Single(result => result is not null)!;
        Assert.That((failure.Code, failure.IsTransient, failure.IsOutage), Is.EqualTo(("ESB-SQL-TRANSIENT", true, false)));
    }

    [TestCase("""{ "id": 1, "points": 1 }""", "customers_pkey")]
    [TestCase("""{ "id": 2, "points": -1 }""", "customers_points_check")]
    [Property("Case", "SQL-10")]
    public async Task Broken_constraint_is_named_and_not_tried_again(string body, string constraint)
    {
        await _shop.ExecuteAsync("insert into customers (id, name) values (1, 'a')");

        var failure = Refusal(_shop.Endpoint(execute: "insert into customers (id, name, points) values (@id, 'a', @points)"), body);

        Assert.That((failure.Code, failure.IsTransient, failure.Kind), Is.EqualTo(("ESB-SQL-CONSTRAINT", false, FaultKind.Invalid)));
        Assert.That(failure.Message, Does.Contain(constraint));
    }

    [Test, Property("Case", "SQL-11")]
    public async Task Command_that_takes_too_long_is_cancelled_on_the_server(CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(
            execute: "select pg_sleep(30) /* esb slow */",
            change: config => config with { Timeout = TimeSpan.FromMilliseconds(300) }
        );

        var failure = Refusal(endpoint, "{}");

        Assert.That(
            (failure.Code, failure.IsTransient, failure.IsUnanswered, failure.Kind),
            Is.EqualTo(("ESB-SQL-TIMEOUT", true, true, FaultKind.Timeout))
        );
        Assert.That(
            failure.Message,
            Is.EqualTo("The database did not answer within 0.3 s."),
            "as configured, though it is given up a little earlier"
        );
        Assert.That(await SlowCommandsAsync(cancellationToken), Is.Zero);
    }

    [Test]
    public async Task Cancelled_send_is_cancelled_on_the_server_and_is_no_failure(CancellationToken cancellationToken)
    {
        using var cancelled = new CancellationTokenSource(TimeSpan.FromMilliseconds(200));

        Assert.That(
            async () => await _shop.Endpoint(execute: "select pg_sleep(30) /* esb slow */").SendAsync(Some.Message(), cancelled.Token),
            Throws.InstanceOf<OperationCanceledException>()
        );
        Assert.That(await SlowCommandsAsync(cancellationToken), Is.Zero);
    }

    [Test, Property("Case", "SQL-12")]
    public async Task Exhausted_pool_says_its_size_and_how_long_was_waited(CancellationToken cancellationToken)
    {
        var database = _shop.Open(maxPoolSize: 2);
        var slow = Enumerable
            .Range(0, 2)
            .Select(_ =>
                _shop.Endpoint(execute: "select pg_sleep(1)", database: database).SendAsync(Some.Message(), cancellationToken).AsTask()
            )
            .ToList();

        var failure = Refusal(
            _shop.Endpoint(
                execute: "select 1",
                database: database,
                change: config => config with { Timeout = TimeSpan.FromMilliseconds(200) }
            ),
            "{}"
        );

        Assert.That((failure.Code, failure.IsTransient, failure.IsUnanswered), Is.EqualTo(("ESB-SQL-POOL", true, true)));
        Assert.That(failure.Message, Is.EqualTo("All 2 connections of shop were in use for 0.2 s."));
        await Task.WhenAll(slow);
    }

    [Test]
    public async Task Instances_beyond_the_pool_wait_for_one_another(CancellationToken cancellationToken)
    {
        var database = _shop.Open(maxPoolSize: 2);
        var sends = Enumerable
            .Range(0, 50)
            .Select(_ =>
                _shop.Endpoint(execute: "select pg_sleep(0.01)", database: database).SendAsync(Some.Message(), cancellationToken).AsTask()
            );

        Assert.That(async () => await Task.WhenAll(sends), Throws.Nothing);
    }

    [Test, Property("Case", "SQL-13")]
    public void Answer_with_too_many_rows_or_bytes_is_refused_as_a_whole()
    {
        var rows = Refusal(
            _shop.Endpoint(query: "select * from generate_series(1, 11) n", change: config => config with { MaxRows = 10 }),
            "{}"
        );
        var bytes = Refusal(_shop.Endpoint(query: "select repeat('x', 1000) as text from generate_series(1, 1000)"), "{}");

        using (Assert.EnterMultipleScope())
        {
            Assert.That((rows.Code, rows.Message), Is.EqualTo(("ESB-SQL-RESULT", "The answer has more than 10 rows.")));
            Assert.That(
                (bytes.Code, bytes.Message),
                Is.EqualTo(("ESB-SQL-RESULT", $"The answer has more than {Shop.MaxBodyBytes} bytes."))
            );
        }
    }

    [TestCase("select 1 as a, 2 as a", "named 'a'")]
    [TestCase("select 1e40::numeric as a", "cast it")]
    [Property("Case", "SQL-13")]
    public void Answer_that_cannot_be_written_faithfully_is_refused(string query, string reason)
    {
        var failure = Refusal(_shop.Endpoint(query: query), "{}");

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SQL-RESULT", false)));
        Assert.That(failure.Message, Does.Contain(reason));
    }

    [Test]
    public async Task Lost_connection_is_an_outage_and_the_next_send_opens_another(CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(execute: "select pg_terminate_backend(pg_backend_pid())");

        var failure = Refusal(endpoint, "{}");

        Assert.That((failure.Code, failure.IsTransient, failure.IsOutage), Is.EqualTo(("ESB-SQL-CONNECTION", true, true)));
        Assert.That(await _shop.Endpoint(execute: "select 1").SendAsync(Some.Message(), cancellationToken), Is.Null);
    }

    // As after a failover: the pool still has a connection to the server that was the primary.
    [TestCase(null), TestCase(2)]
    public async Task Connection_that_takes_no_changes_any_more_is_an_outage_and_not_used_again(
        int? batch,
        CancellationToken cancellationToken
    )
    {
        var database = _shop.Open(maxPoolSize: 1);
        await _shop
            .Endpoint(execute: "set session characteristics as transaction read only", database: database)
            .SendAsync(Some.Message(), cancellationToken);
        var endpoint = _shop.Endpoint(
            execute: "insert into customers (id, name) values (1, 'a')",
            database: database,
            change: config => config with { Batch = batch is { } size ? new SqlBatchConfig { Size = size } : null }
        );

        var failure = Refusal(endpoint, "{}");
        await endpoint.SendAsync(Some.Message(), cancellationToken);

        Assert.That((failure.Code, failure.IsTransient, failure.IsOutage), Is.EqualTo(("ESB-SQL-CONNECTION", true, true)));
        Assert.That(await _shop.ReadAsync<long>("select count(*) from customers", cancellationToken), Is.EqualTo([1]));
    }

    [Test]
    public async Task Time_outs_that_overlap_on_one_connection_leave_nothing_unexplained(CancellationToken cancellationToken)
    {
        var database = _shop.Open(maxPoolSize: 1);
        var random = new Random(20);
        var attempts = Enumerable
            .Range(0, 300)
            .Select(_ =>
            {
                var (work, limit) = (random.Next(1, 12), random.Next(2, 12));
                return TryAsync(
                    _shop.Endpoint(
                        query: $"select pg_sleep({work} / 1000.0)",
                        database: database,
                        change: config => config with { Timeout = TimeSpan.FromMilliseconds(limit * 10) }
                    )
                );
            });

        var failures = (await Task.WhenAll(attempts)).OfType<EndpointException>().ToList();

        Assert.That(failures, Is.Not.Empty);
        Assert.That(
            failures.Select(failure => failure.Code).Distinct(),
            Is.SubsetOf(new[] { "ESB-SQL-POOL", "ESB-SQL-TIMEOUT", "ESB-SQL-CONNECTION" })
        );
        Assert.That(failures, Has.All.Property(nameof(EsbException.IsTransient)).True);
        Assert.That(await _shop.Endpoint(execute: "select 1", database: database).SendAsync(Some.Message(), cancellationToken), Is.Null);
    }

    [Test]
    public async Task Transaction_that_a_command_leaves_open_is_rolled_back(CancellationToken cancellationToken)
    {
        var database = _shop.Open(maxPoolSize: 1);

        await _shop
            .Endpoint(execute: "begin; insert into customers (id, name) values (1, 'a')", database: database)
            .SendAsync(Some.Message(), cancellationToken);
        var reply = await _shop
            .Endpoint(query: "select count(*) from customers", database: database)
            .SendAsync(Some.Message(), cancellationToken);

        Assert.That(reply!.Body.ReadText(), Is.EqualTo("""[{"count":0}]"""));
    }

    [TestCase("Host=nowhere.invalid;Username=esb")]
    [TestCase("Host=127.0.0.1;Port=1;Username=esb")]
    public void Server_that_cannot_be_found_is_an_outage(string connection)
    {
        var failure = Refusal(_shop.Endpoint(execute: "select 1", database: _shop.Open(connection: connection)), "{}");

        Assert.That((failure.Code, failure.IsOutage), Is.EqualTo(("ESB-SQL-CONNECTION", true)));
        Assert.That(failure.Message, Does.Not.Contain("nowhere"));
    }

    [Test]
    public void Database_that_does_not_exist_is_an_outage()
    {
        var connection = new NpgsqlConnectionStringBuilder(Servers.Postgres) { Database = "esb_missing" }.ConnectionString;

        Assert.That(Refusal(_shop.Endpoint(execute: "select 1", database: _shop.Open(connection: connection)), "{}").IsOutage, Is.True);
    }

    private async Task<long> SlowCommandsAsync(CancellationToken cancellationToken) =>
        (
            await _shop.ReadAsync<long>(
                "select count(*) from pg_stat_activity where query like '%esb ' || 'slow%' and state = 'active' and query like "
                    + "'select pg_sleep%'",
                cancellationToken
            )
        )[0];

    private static EndpointException Refusal(IOutboundEndpoint endpoint, string body) =>
        Assert.ThrowsAsync<EndpointException>(async () => await endpoint.SendAsync(Some.Message(body), CancellationToken.None))!;

    private static async Task<EndpointException?> TryAsync(IOutboundEndpoint endpoint)
    {
        try
        {
            await endpoint.SendAsync(Some.Message(), CancellationToken.None);
            return null;
        }
        catch (EndpointException ex)
        {
            return ex;
        }
    }
}
