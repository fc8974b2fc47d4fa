using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Endpoints.Sql;
using Esb.Tests;

namespace Esb.IntegrationTests.Sql;

/// <summary>Stored procedures, several result sets, typed parameters and isolation on a real PostgreSQL.</summary>
[CancelAfter(60_000)]
public sealed class SqlProcedureTests
{
    private Shop _shop = null!;

    [SetUp]
    public async Task CreateShop()
    {
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync(
            """
            insert into customers (id, name, country) values (1, 'Ada', 'GB'), (2, 'Bo', 'SE');
            create procedure close_order(customer int, inout points numeric, out told text) language plpgsql as $$
            begin
              update customers c set points = coalesce(c.points, 0) + close_order.points where id = customer returning c.points into close_order.points;
              told := 'customer ' || customer;
            end $$;
            create procedure lists(inout first refcursor, inout second refcursor) language plpgsql as $$
            begin
              first := 'first'; open first for select id, name from customers order by id;
              second := 'second'; open second for select count(*) as n from customers;
            end $$;
            """
        );
    }

    [TearDown]
    public async Task DropShop() => await _shop.DisposeAsync();

    [TestCase(RowsFormat.Json, """{"results":[],"out":{"points":7.50,"told":"customer 1"}}""")]
    [TestCase(
        RowsFormat.Xml,
        """<?xml version="1.0" encoding="utf-8"?><answer><results /><out><rows><row><points>7.50</points><told>customer 1</told></row></rows></out></answer>"""
    )]
    public async Task Procedure_gives_its_output_values(RowsFormat format, string expected, CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(
            procedure: "close_order",
            change: config =>
                config with
                {
                    As = format,
                    Parameters = new Dictionary<string, SqlParameterConfig>
                    {
                        ["customer"] = new() { Jsonpath = "$.id", Type = "int" },
                        ["points"] = new()
                        {
                            Jsonpath = "$.points",
                            Type = "numeric(6, 2)",
                            Direction = SqlDirection.InOut,
                        },
                        ["told"] = new() { Direction = SqlDirection.Out, Type = "text" },
                    },
                }
        );

        var answer = await endpoint.SendAsync(Some.Message("""{ "id": 1, "points": 7.5 }"""), cancellationToken);

        Assert.That(answer!.Body.ReadText(), Is.EqualTo(expected));
        Assert.That(
            await _shop.ReadAsync<decimal>("select points from customers where id = 1", cancellationToken),
            Is.EqualTo([7.50m]),
            "it is committed"
        );
    }

    [Test]
    public async Task Cursors_that_a_procedure_opens_are_result_sets(CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(
            procedure: "lists",
            change: config =>
                config with
                {
                    Parameters = new Dictionary<string, SqlParameterConfig>
                    {
                        ["first"] = new() { Direction = SqlDirection.Out, Type = "refcursor" },
                        ["second"] = new() { Direction = SqlDirection.Out, Type = "refcursor" },
                    },
                }
        );

        var answer = await endpoint.SendAsync(Some.Message("{}"), cancellationToken);

        Assert.That(
            answer!.Body.ReadText(),
            Is.EqualTo("""{"results":[[{"id":1,"name":"Ada"},{"id":2,"name":"Bo"}],[{"n":2}]],"out":{}}""")
        );
    }

    [Test]
    public async Task Query_of_several_statements_gives_all_their_results(CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(
            "select name from customers where id = @id; select count(*) as n from customers; update customers set country = 'XX' "
                + "where id = @id"
        );

        var answer = await endpoint.SendAsync(Some.Message("""{ "id": 2 }"""), cancellationToken);

        Assert.That(answer!.Body.ReadText(), Is.EqualTo("""{"results":[[{"name":"Bo"}],[{"n":2}]],"out":{}}"""));
    }

    [Test]
    public async Task Type_of_a_parameter_decides_where_its_place_would_not(CancellationToken cancellationToken)
    {
        var untyped = _shop.Endpoint("select pg_typeof(@id)::text as t");
        var typed = _shop.Endpoint(
            "select pg_typeof(@id)::text as t",
            change: config =>
                config with
                {
                    Parameters = new Dictionary<string, SqlParameterConfig>
                    {
                        ["id"] = new() { Jsonpath = "$.id", Type = "uuid" },
                    },
                }
        );
        var message = Some.Message($$"""{ "id": "{{Guid.Empty}}" }""");

        Assert.That((await typed.SendAsync(message, cancellationToken))!.Body.ReadText(), Is.EqualTo("""[{"t":"uuid"}]"""));
        Assert.That(
            async () => await untyped.SendAsync(message, cancellationToken),
            Throws.TypeOf<EndpointException>().With.Property("Code").EqualTo("ESB-SQL-COMMAND"),
            "nothing tells the database which type it is"
        );
    }

    [Test, Property("Case", "SQL-05")]
    public void Value_that_does_not_fit_its_type_is_told(CancellationToken cancellationToken)
    {
        var typed = _shop.Endpoint(
            "select @id as t",
            change: config =>
                config with
                {
                    Parameters = new Dictionary<string, SqlParameterConfig>
                    {
                        ["id"] = new() { Jsonpath = "$.id", Type = "uuid" },
                    },
                }
        );

        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await typed.SendAsync(Some.Message("""{ "id": "secret" }"""), cancellationToken)
        )!;

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SQL-VALUE", false)));
        Assert.That(failure.Message, Does.Contain("@id").And.Not.Contain("secret"));
    }

    [
        TestCase(null, "read committed"),
        TestCase(SqlIsolation.ReadCommitted, "read committed"),
        TestCase(SqlIsolation.RepeatableRead, "repeatable read"),
        TestCase(SqlIsolation.Serializable, "serializable")
    ]
    public async Task Command_runs_at_its_isolation_level(SqlIsolation? isolation, string expected, CancellationToken cancellationToken)
    {
        var endpoint = _shop.Endpoint(
            "select current_setting('transaction_isolation') as level",
            change: config => config with { Isolation = isolation }
        );

        var answer = await endpoint.SendAsync(Some.Message("{}"), cancellationToken);

        Assert.That(answer!.Body.ReadText(), Is.EqualTo($$"""[{"level":"{{expected}}"}]"""));
    }

    [Test]
    public void Procedure_that_fails_changes_nothing_and_missing_ones_are_told(CancellationToken cancellationToken)
    {
        var missing = _shop.Endpoint(
            procedure: "no_such",
            change: config => config with { Parameters = new Dictionary<string, SqlParameterConfig>() }
        );

        var failure = Assert.ThrowsAsync<EndpointException>(async () => await missing.SendAsync(Some.Message("{}"), cancellationToken))!;

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SQL-COMMAND", false)));
    }

    [Test, Property("Case", "SQL-02")]
    public async Task Hostile_text_is_a_value_of_a_procedure(CancellationToken cancellationToken)
    {
        await _shop.ExecuteAsync(
            "create procedure keep(note text) language sql as $$ insert into orders values (gen_random_uuid(), note) $$"
        );
        const string hostile = "'); drop table orders; --";
        var endpoint = _shop.Endpoint(
            procedure: "keep",
            change: config =>
                config with
                {
                    Parameters = new Dictionary<string, SqlParameterConfig> { ["note"] = new() { Message = MessagePart.Body } },
                }
        );

        await endpoint.SendAsync(Some.Message(hostile), cancellationToken);

        Assert.That(await _shop.ReadAsync<string>("select body from orders", cancellationToken), Is.EqualTo([hostile]));
    }
}
