using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Tables;
using Esb.IntegrationTests.Topics;
using Esb.Tests;
using Npgsql;

namespace Esb.IntegrationTests.Sql;

/// <summary>Commands under a lease on a real PostgreSQL: once a larger token was shown, smaller ones have no effect.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class FenceTests
{
    private const string Insert = "insert into effects (message_id) values (@id)";

    private readonly long _token = TimeProvider.System.GetTimestamp(); // above those of earlier runs on the same server
    private Shop _shop = null!;
    private BusTables _tables = null!;

    [SetUp]
    public async Task CreateShop()
    {
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync("create table effects (message_id text not null)");
        _tables = _shop.Open().Tables;
        await _tables.EnsureReadyAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task DropShop()
    {
        await _shop.ExecuteAsync($"delete from esb.endpoint_fence where bus = '{Shop.Bus}' and endpoint = 'db'");
        await _shop.DisposeAsync();
    }

    [TestCase(false), TestCase(true), Property("Case", "T-LEA-1")]
    public async Task Effect_under_an_older_token_is_undone(bool once, CancellationToken cancellationToken)
    {
        var endpoint = Fenced(once);
        await RaiseAsync(_token, cancellationToken);
        await endpoint.SendAsync(Message("before"), _token, cancellationToken);

        await RaiseAsync(_token + 1, cancellationToken);
        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await endpoint.SendAsync(Message("late"), _token, cancellationToken)
        )!;
        await endpoint.SendAsync(Message("after"), _token + 1, cancellationToken);

        Assert.That(
            await _shop.ReadAsync<string>("select message_id from effects order by 1", cancellationToken),
            Is.EqualTo(new[] { "after", "before" })
        );
        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo((IFencedEndpoint.FencingCode, true)));
    }

    [Test]
    public async Task Query_that_changes_something_is_undone_as_well(CancellationToken cancellationToken)
    {
        var endpoint = (IFencedEndpoint)
            _shop.Endpoint(query: $"{Insert} returning message_id", change: config => config with { SingleInstance = true });
        var answer = await endpoint.SendAsync(Message("before"), _token, cancellationToken);
        await RaiseAsync(_token + 1, cancellationToken);

        Assert.ThrowsAsync<EndpointException>(async () => await endpoint.SendAsync(Message("late"), _token, cancellationToken));

        Assert.That(answer!.Body.ReadText(), Is.EqualTo("""[{"message_id":"before"}]"""));
        Assert.That(await _shop.ReadAsync<string>("select message_id from effects", cancellationToken), Is.EqualTo(new[] { "before" }));
    }

    [Test]
    public async Task New_token_waits_for_the_transactions_that_an_older_one_was_let_pass_for(CancellationToken cancellationToken)
    {
        await RaiseAsync(_token, cancellationToken);
        await using var source = NpgsqlDataSource.Create(_shop.ConnectionString);
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        await using (
            var effect = new NpgsqlCommand(
                $"insert into effects values ('just in time'); select esb.pass_fence('{Shop.Bus}', 'db', {_token})",
                connection
            )
        )
            await effect.ExecuteNonQueryAsync(cancellationToken);

        var raising = RaiseAsync(_token + 1, cancellationToken);
        await Eventually.HoldsAsync(() => IsWaitedForAsync(cancellationToken), cancellationToken);
        Assert.That(raising.IsCompleted, Is.False);
        await transaction.CommitAsync(cancellationToken);
        await raising;

        Assert.That(
            await _shop.ReadAsync<string>("select message_id from effects", cancellationToken),
            Is.EqualTo(new[] { "just in time" })
        );
    }

    [Test]
    public async Task Older_token_cannot_be_raised_again(CancellationToken cancellationToken)
    {
        await RaiseAsync(_token + 1, cancellationToken);

        var failure = Assert.ThrowsAsync<EndpointException>(() => RaiseAsync(_token, cancellationToken))!;

        Assert.That(failure.Code, Is.EqualTo(IFencedEndpoint.FencingCode));
    }

    [Test]
    public async Task Fence_that_somebody_removed_stands_again_with_the_next_message(CancellationToken cancellationToken)
    {
        await RaiseAsync(_token, cancellationToken);
        await _shop.ExecuteAsync($"delete from esb.endpoint_fence where bus = '{Shop.Bus}'");

        await Fenced().SendAsync(Message("next"), _token, cancellationToken);

        Assert.That(
            await _shop.ReadAsync<long>(
                $"select token from esb.endpoint_fence where bus = '{Shop.Bus}' and endpoint = 'db'",
                cancellationToken
            ),
            Is.EqualTo(new[] { _token })
        );
    }

    private static EsbMessage Message(string id) => Some.Message($$"""{ "id": "{{id}}" }""");

    private IFencedEndpoint Fenced(bool once = false) =>
        (IFencedEndpoint)_shop.Endpoint(execute: Insert, change: config => config with { SingleInstance = true, Once = once });

    private Task RaiseAsync(long token, CancellationToken cancellationToken) =>
        _tables.RaiseFenceAsync(new Fence(Shop.Bus, "db", token), cancellationToken);

    private async Task<bool> IsWaitedForAsync(CancellationToken cancellationToken) =>
        (
            await _shop.ReadAsync<bool>(
                "select exists (select from pg_locks where locktype = 'advisory' and not granted)",
                cancellationToken
            )
        ).Single();
}
