using System.Globalization;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Wire;

/// <summary>A message as received from the broker.</summary>
/// <param name="Exchange">The exchange of the publish; empty for a publish directly to a queue.</param>
/// <param name="RoutingKey">The routing key of the publish.</param>
/// <param name="Properties">Not shared: the client reads them anew for each message.</param>
/// <param name="Body">A private copy.</param>
/// <param name="IsRedelivered">True if the broker has delivered the message before.</param>
internal sealed record WireMessage(
    string Exchange,
    string RoutingKey,
    IReadOnlyBasicProperties Properties,
    ReadOnlyMemory<byte> Body,
    bool IsRedelivered
)
{
    private readonly int? _redeliveries;

    /// <summary>The number of earlier deliveries, as counted by the broker unless a better count is known; a classic queue reports only
    /// whether there was one.</summary>
    public int Redeliveries
    {
        get => _redeliveries ?? (IsRedelivered ? Math.Max(1, Properties.Headers.Number(WireHeaders.DeliveryCount) ?? 1) : 0);
        init => _redeliveries = value;
    }

    /// <summary>The time to live, from the publish; null for no limit.</summary>
    public TimeSpan? TimeToLive =>
        long.TryParse(Properties.Expiration, NumberStyles.None, CultureInfo.InvariantCulture, out var milliseconds)
        && milliseconds <= int.MaxValue
            ? TimeSpan.FromMilliseconds(milliseconds)
            : null;

    /// <summary>The time of arrival here; null if it does not matter. The message may wait here before it is handled.</summary>
    public DateTimeOffset? ArrivedAt { get; init; }

    /// <summary>Converts a delivery of the client, with a copy of its body.</summary>
    public static WireMessage Of(BasicDeliverEventArgs delivery, DateTimeOffset? arrivedAt = null) =>
        new(delivery.Exchange, delivery.RoutingKey, delivery.BasicProperties, delivery.Body.ToArray(), delivery.Redelivered)
        {
            ArrivedAt = arrivedAt,
        };
}
