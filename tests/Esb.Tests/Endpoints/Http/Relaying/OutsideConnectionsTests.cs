using System.Net.Security;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Sending;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>The connections that relays keep to an outside.</summary>
[CancelAfter(30_000)]
public sealed class OutsideConnectionsTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private readonly ManualTime _time = new();

    [Test]
    public async Task Connection_that_a_caller_cut_off_after_its_exchange_is_replaced(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("answer");
        using var connections = ConnectionsTo(backend);
        var first = await ExchangeAsync(connections, cancellationToken);

        first.Abort(); // the caller hung up as its answer was complete
        var second = await ExchangeAsync(connections, cancellationToken);

        Assert.That(second, Is.Not.SameAs(first));
        Assert.That((backend.Connections, connections.Count), Is.EqualTo((2, 1)));
    }

    [Test]
    public async Task Connection_used_last_is_used_first_and_those_that_grow_old_are_closed(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("answer");
        using var connections = ConnectionsTo(backend);
        var (first, second) = (
            await connections.RentAsync(isNew: false, Patience, cancellationToken),
            await connections.RentAsync(isNew: false, Patience, cancellationToken)
        );
        await EndAsync(connections, first);
        _time.Advance(TimeSpan.FromSeconds(40));
        await EndAsync(connections, second);

        var again = await ExchangeAsync(connections, cancellationToken);
        _time.Advance(TimeSpan.FromSeconds(40));

        Assert.That(again, Is.SameAs(second));
        Assert.That(connections.Count, Is.EqualTo(1));
    }

    private OutsideConnections ConnectionsTo(RawBackend backend)
    {
        var config = new HttpOutboundConfig { Url = backend.Url, IdleTimeout = TimeSpan.FromSeconds(60) };
        return new OutsideConnections(
            new OutsideConnector(new Uri(backend.Url), config.ConnectTimeout, new SslClientAuthenticationOptions(), _time),
            config,
            _time
        );
    }

    private static async Task<OutsideConnection> ExchangeAsync(OutsideConnections connections, CancellationToken cancellationToken)
    {
        var connection = await connections.RentAsync(isNew: false, Patience, cancellationToken);
        await EndAsync(connections, connection);
        return connection;
    }

    private static async Task EndAsync(OutsideConnections connections, OutsideConnection connection)
    {
        await connection.WriteAsync("\r\n\r\n"u8.ToArray());
        while (connection.Received.Length < "answer".Length)
            Assert.That(await connection.FillAsync(), Is.True);
        connection.Consume(connection.Received.Length);
        connections.Return(connection);
    }
}
