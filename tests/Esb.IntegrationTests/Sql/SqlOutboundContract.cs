using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Sql;
using Esb.Tests.Endpoints.Contracts;
using Npgsql;

namespace Esb.IntegrationTests.Sql;

[TestFixture]
internal sealed class SqlOutboundContract : OutboundEndpointContract
{
    private const string Insert = "insert into orders (id, body) values (@id, @body) on conflict (id) do nothing";

    private Shop _shop = null!;

    [SetUp]
    public async Task CreateShop() => _shop = await Shop.CreateAsync();

    [TearDown]
    public async Task DropShop() => await _shop.DisposeAsync();

    protected override IOutboundAdapter Create() => Adapter(_shop.ConnectionString);

    protected override IOutboundAdapter CreateAway() =>
        Adapter(new NpgsqlConnectionStringBuilder(_shop.ConnectionString) { Port = 1 }.ConnectionString);

    protected override async Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken) =>
        await _shop.ReadAsync<string>("select body from orders", cancellationToken);

    private Adapter Adapter(string connection)
    {
        var database = _shop.Open(connection: connection);
        return new Adapter(() =>
            _shop.Endpoint(
                execute: Insert,
                database: database,
                change: config =>
                    config with
                    {
                        Parameters = new Dictionary<string, SqlParameterConfig>
                        {
                            ["id"] = new() { Message = MessagePart.Id },
                            ["body"] = new() { Message = MessagePart.Body },
                        },
                    }
            )
        );
    }
}

/// <summary>Endpoints that the test built.</summary>
internal sealed class Adapter(Func<IOutboundEndpoint> create) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() => create();

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
