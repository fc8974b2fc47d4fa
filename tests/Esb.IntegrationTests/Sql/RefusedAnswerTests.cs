using Esb.Core.Errors;
using Esb.Tests;

namespace Esb.IntegrationTests.Sql;

/// <summary>An answer that is refused before all of it has come.</summary>
[TestFixture, CancelAfter(60_000), Property("Case", "SQL-13")]
internal sealed class RefusedAnswerTests
{
    private Shop _shop = null!;

    [SetUp]
    public async Task CreateShop() => _shop = await Shop.CreateAsync();

    [TearDown]
    public async Task DropShop() => await _shop.DisposeAsync();

    [TestCase("select generate_series(1, 1000000000) as number", "more than 10 rows")]
    [TestCase("select 1 as a, generate_series(1, 1000000000) as a", "named 'a'")]
    [TestCase("select 1e40::numeric as a, generate_series(1, 1000000000) as b", "cast it")]
    public async Task Rest_of_an_answer_is_neither_waited_for_nor_read(string query, string reason, CancellationToken cancellationToken)
    {
        var database = _shop.Open(maxPoolSize: 1);
        var next = _shop.Endpoint(execute: "select 1", database: database);
        await next.SendAsync(Some.Message(), cancellationToken); // so that the connection is there
        var endpoint = _shop.Endpoint(query: query, database: database, change: config => config with { MaxRows = 10 });

        var failure = Assert.ThrowsAsync<EndpointException>(() =>
            endpoint.SendAsync(Some.Message(), CancellationToken.None).AsTask().WaitAsync(TimeSpan.FromSeconds(2), cancellationToken)
        )!;

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SQL-RESULT", false)));
        Assert.That(failure.Message, Does.Contain(reason));
        Assert.That(await next.SendAsync(Some.Message(), cancellationToken), Is.Null, "the connection is free again");
    }

    // Some have been sent as a whole when the database is told to stop, some not.
    [Test]
    public async Task Next_command_of_the_connection_is_not_the_one_that_is_cancelled(CancellationToken cancellationToken)
    {
        var database = _shop.Open(maxPoolSize: 1);
        var next = _shop.Endpoint(query: "select count(*) from generate_series(1, 1000) as number", database: database);
        for (var number = 0; number < 200; number++)
        {
            var refused = _shop.Endpoint(
                query: $"select generate_series(1, {11 + (number * 50)}) as number",
                database: database,
                change: config => config with { MaxRows = 10 }
            );

            var failure = Assert.ThrowsAsync<EndpointException>(async () => await refused.SendAsync(Some.Message(), cancellationToken))!;
            var reply = await next.SendAsync(Some.Message(), cancellationToken);

            Assert.That((failure.Code, reply!.Body.ReadText()), Is.EqualTo(("ESB-SQL-RESULT", """[{"count":1000}]""")));
        }
    }
}
