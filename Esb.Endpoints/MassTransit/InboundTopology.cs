using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.MassTransit;

/// <summary>The exchanges, the queue and the bindings of a masstransit-inbound endpoint, as MassTransit makes them: one fanout exchange for
/// each message type, bound to an exchange that is named like the queue, and that to the queue.</summary>
/// <remarks>The types that are bound are kept in the store, so that a later configuration removes bindings that it no longer
/// wants.</remarks>
internal sealed partial class InboundTopology(
    MassTransitInboundConfig config,
    string queue,
    IEndpointMarks marks,
    ILogger<InboundTopology> logger
)
{
    private const string Mark = "masstransit.bindings";
    private const string Fanout = "fanout";

    private readonly List<string> _exchanges =
    [
        .. config.MessageType.Select(type => MassTransitNames.ExchangeOf(type, config.EntityNames)).Distinct(StringComparer.Ordinal),
    ];

    /// <summary>Returns the layout, with the bindings of earlier configurations to remove.</summary>
    public async Task<BrokerLayout> FindAsync(CancellationToken cancellationToken)
    {
        var current = string.Join('\n', _exchanges.Prepend(queue));
        string[] earlier = [];
        try
        {
            var kept = await marks.FindAsync(config.Name, Mark, cancellationToken);
            earlier = kept?.Split('\n') ?? [];
            if (kept != current)
                await marks.KeepAsync(config.Name, Mark, Union(earlier), keep: null, cancellationToken);
        }
        catch (EsbException ex)
        {
            LogUnknown(ex, ex.Code, config.Name); // bindings that are no longer wanted stay until the next start
        }

        return LayoutOf(earlier);
    }

    private BrokerLayout LayoutOf(string[] earlier)
    {
        var unwanted = earlier is [var before, .. var exchanges]
            ? exchanges.Where(exchange => before != queue || !_exchanges.Contains(exchange))
            : [];
        return new BrokerLayout
        {
            Exchanges = [.. _exchanges.Append(queue).Select(exchange => new BrokerExchange(exchange, Fanout) { IsMade = true })],
            Queue = new BrokerQueue(queue) { IsMade = true },
            Bindings =
            [
                new BrokerBinding(queue, queue, "", IsToQueue: true),
                .. _exchanges.Select(exchange => new BrokerBinding(exchange, queue, "", IsToQueue: false)),
            ],
            Unbindings = [.. unwanted.Select(exchange => new BrokerBinding(exchange, earlier[0], "", IsToQueue: false))],
        };
    }

    // Until the broker has removed them, unwanted bindings stay known: of the same queue only, as one mark holds one queue.
    private string Union(string[] earlier) =>
        string.Join(
            '\n',
            (earlier is [var before, .. var exchanges] && before == queue ? _exchanges.Union(exchanges) : _exchanges).Prepend(queue)
        );

    [LoggerMessage(
        EventId = 2304,
        Level = LogLevel.Warning,
        Message = "{Code}: the message types that {Endpoint} received before are unknown; bindings that are no longer wanted stay"
    )]
    private partial void LogUnknown(EsbException cause, string code, string endpoint);
}
