using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Inbound;
using Esb.Tests.Endpoints.Files;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Sql;

/// <summary>Polls of a sql-inbound endpoint with a process, on a real database.</summary>
[CancelAfter(60_000)]
public sealed class RowTakerTests
{
    private const string Query = "select id, note, price from jobs where not taken order by id limit 20 for update";

    private Shop _shop = null!;

    private RecordingIntake Intake { get; set; } = null!;

    [SetUp]
    public async Task CreateShop()
    {
        (_shop, Intake) = (await Shop.CreateAsync(), new RecordingIntake());
        await _shop.ExecuteAsync(
            "create table jobs (id int primary key, note text, price numeric(8, 2), taken boolean not null default false)"
        );
    }

    [TearDown]
    public async Task DropShop() => await _shop.DisposeAsync();

    [Test]
    public async Task Each_row_is_a_json_object_and_is_marked(CancellationToken cancellationToken)
    {
        await InsertAsync(2);

        var taken = await Taker().TakeAsync(cancellationToken);
        var again = await Taker().TakeAsync(cancellationToken);

        Assert.That((taken, again), Is.EqualTo((2, 0)));
        Assert.That(Intake.Bodies, Is.EqualTo(["""{"id":1,"note":"Käse 1","price":1.50}""", """{"id":2,"note":"Käse 2","price":2.50}"""]));
        Assert.That(Intake.Messages.Select(message => message.ContentType), Is.All.EqualTo("application/json"));
    }

    [TestCase(RowsFormat.Json, """[{"id":1,"note":"Käse 1","price":1.50},{"id":2,"note":"Käse 2","price":2.50}]""")]
    [TestCase(
        RowsFormat.Xml,
        """<?xml version="1.0" encoding="utf-8"?><rows><row><id>1</id><note>Käse 1</note><price>1.50</price></row><row><id>2</id><note>Käse 2</note><price>2.50</price></row></rows>"""
    )]
    public async Task Batch_has_up_to_so_many_rows(RowsFormat format, string first, CancellationToken cancellationToken)
    {
        await InsertAsync(5);

        var taken = await Taker(config => config with { Batch = 2, As = format }).TakeAsync(cancellationToken);

        Assert.That((taken, Intake.Messages.Count, Intake.Bodies[0]), Is.EqualTo((5, 3, first)));
        Assert.That(await UnmarkedAsync(cancellationToken), Is.Empty);
    }

    [Test, Property("Case", "SQL-14")]
    public async Task Rows_whose_message_is_not_accepted_stay_unmarked_and_come_again_as_the_same_messages(
        CancellationToken cancellationToken
    )
    {
        await InsertAsync(3);
        Intake.Answer = (message, _) =>
            message.Body.ReadText().Contains("Käse 3")
                ? throw new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable)
                : Task.FromResult(Task.CompletedTask);

        Assert.That(() => Taker().TakeAsync(cancellationToken), Throws.TypeOf<EsbException>());
        var unmarked = await UnmarkedAsync(cancellationToken);
        Intake.Answer = (_, _) => Task.FromResult(Task.CompletedTask);
        await Taker().TakeAsync(cancellationToken);

        Assert.That(unmarked, Is.EqualTo([1, 2, 3]));
        Assert.That(
            Intake.Messages.Skip(3).Select(message => message.Id),
            Is.EqualTo(Intake.Messages.Take(3).Select(message => message.Id))
        );
    }

    [Test]
    public async Task Row_that_is_refused_is_marked_and_the_others_are_taken(CancellationToken cancellationToken)
    {
        await InsertAsync(3);
        Intake.Answer = (message, _) =>
            message.Body.ReadText().Contains("Käse 2")
                ? throw new EsbException("ESB-VAL-SCHEMA", "Not valid.", FaultKind.Invalid)
                : Task.FromResult(Task.CompletedTask);

        var taken = await Taker().TakeAsync(cancellationToken);

        Assert.That((taken, (await UnmarkedAsync(cancellationToken)).Count), Is.EqualTo((3, 0)));
    }

    [Test]
    public async Task Nothing_is_taken_where_a_row_cannot_be_marked(CancellationToken cancellationToken)
    {
        await InsertAsync(2);

        var failure = Assert.ThrowsAsync<EndpointException>(() =>
            Taker(config => config, after: "update jobs set taken = true where id = @id and id <> 2").TakeAsync(cancellationToken)
        )!;

        Assert.That(failure.Code, Is.EqualTo("ESB-SQL-AFTER"));
        Assert.That(await UnmarkedAsync(cancellationToken), Is.EqualTo([1, 2]));
    }

    [TestCase("select id from jobs", "update jobs set taken = true where note = @note", "ESB-SQL-PARAM")]
    [TestCase("select id, note as id from jobs", "update jobs set taken = true where id = @id", "ESB-SQL-RESULT")]
    [TestCase("select id from generate_series(1, 10001) as id", "update jobs set taken = true where id = @id", "ESB-SQL-RESULT")]
    [TestCase("select id from missing", "update jobs set taken = true where id = @id", "ESB-SQL-COMMAND")]
    [Property("Case", "SQL-13")]
    public async Task Query_that_cannot_be_used_takes_nothing(string query, string after, string code, CancellationToken cancellationToken)
    {
        await InsertAsync(1);

        var failure = Assert.ThrowsAsync<EndpointException>(() => Taker(config => config, query, after).TakeAsync(cancellationToken))!;

        Assert.That((failure.Code, Intake.Messages.Count), Is.EqualTo((code, 0)));
    }

    [Test, Property("Case", "SQL-15")]
    public async Task Hosts_that_skip_locked_rows_share_them(CancellationToken cancellationToken)
    {
        await InsertAsync(200);
        var takers = Enumerable
            .Range(0, 4)
            .Select(_ => Taker(config => config, "select id from jobs where not taken order by id limit 10 for update skip locked"))
            .ToList();

        await Task.WhenAll(
            takers.Select(async taker =>
            {
                while (await taker.TakeAsync(cancellationToken) > 0)
                {
                    // until none is left
                }
            })
        );

        Assert.That(Intake.Messages.Select(message => message.Id).Distinct().Count(), Is.EqualTo(Intake.Messages.Count));
        Assert.That((Intake.Messages.Count, (await UnmarkedAsync(cancellationToken)).Count), Is.EqualTo((200, 0)));
    }

    private RowTaker Taker(
        Func<SqlInboundConfig, SqlInboundConfig>? change = null,
        string query = Query,
        string after = "update jobs set taken = true where id = @id"
    )
    {
        var config = new SqlInboundConfig
        {
            Name = "jobs",
            Path = "endpoints.jobs",
            Connection = "shop",
            Query = query,
            After = after,
            Process = "p",
        };
        config = change?.Invoke(config) ?? config;
        return new RowTaker(
            config,
            SqlText.Parse(query),
            SqlText.Parse(after),
            _shop.Open(),
            transactions: null! /* a process needs no outbox */
            ,
            Intake,
            Shop.MaxBodyBytes,
            TimeProvider.System,
            NullLogger<RowTaker>.Instance
        );
    }

    private Task InsertAsync(int count) =>
        _shop.ExecuteAsync($"insert into jobs (id, note, price) select id, 'Käse ' || id, id + 0.5 from generate_series(1, {count}) as id");

    private Task<List<int>> UnmarkedAsync(CancellationToken cancellationToken) =>
        _shop.ReadAsync<int>("select id from jobs where not taken order by id", cancellationToken);
}
