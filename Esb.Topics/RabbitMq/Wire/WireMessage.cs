using System.Globalization;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Wire;

/// <summary>A message as it came from the broker.</summary>
/// <param name="Exchange">Where it was published; empty for what went straight into a queue.</param>
/// <param name="RoutingKey">What it was published under.</param>
/// <param name="Properties">Of this message alone: the client reads them anew for each.</param>
/// <param name="Body">Ours to keep.</param>
/// <param name="IsRedelivered">Whether the broker has delivered it before.</param>
internal sealed record WireMessage(string Exchange, string RoutingKey, IReadOnlyBasicProperties Properties, ReadOnlyMemory<byte> Body, bool IsRedelivered)
{
    private readonly int? _redeliveries;

    /// <summary>How often it was delivered before, as the broker counts unless somebody knows better; a classic queue knows only whether it was.</summary>
    public int Redeliveries
    {
        get => _redeliveries ?? (IsRedelivered ? Math.Max(1, Properties.Headers.Number(WireHeaders.DeliveryCount) ?? 1) : 0);
        init => _redeliveries = value;
    }

    /// <summary>How long it may live, from when it was published; null for ever.</summary>
    public TimeSpan? TimeToLive =>
        long.TryParse(Properties.Expiration, NumberStyles.None, CultureInfo.InvariantCulture, out var milliseconds) && milliseconds <= int.MaxValue
            ? TimeSpan.FromMilliseconds(milliseconds)
            : null;

    /// <summary>When it came here; null where that does not matter. It may wait here before it is worked on.</summary>
    public DateTimeOffset? ArrivedAt { get; init; }

    /// <summary>A delivery of the client, with a copy of its body.</summary>
    public static WireMessage Of(BasicDeliverEventArgs delivery, DateTimeOffset? arrivedAt = null) =>
        new(delivery.Exchange, delivery.RoutingKey, delivery.BasicProperties, delivery.Body.ToArray(), delivery.Redelivered) { ArrivedAt = arrivedAt };
}
