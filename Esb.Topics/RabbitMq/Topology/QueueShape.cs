using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Wire;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>The settings of an endpoint's queues that cannot change while the queues exist.</summary>
internal sealed record QueueShape(DeliveryMode Delivery, int? Lanes, QueueType Type, int? MaxLength, QueueOverflow Overflow)
{
    public static QueueShape Of(Subscription subscription) =>
        new(
            subscription.Lanes is not null ? DeliveryMode.OrderedByKey
                : subscription.SingleActive ? DeliveryMode.Ordered
                : DeliveryMode.Parallel,
            subscription.Lanes,
            subscription.Queue.Type,
            subscription.Queue.MaxLength,
            subscription.Queue.Overflow
        );

    /// <summary>True if both have the same queues, whatever their arguments.</summary>
    public bool HasQueuesOf(QueueShape other) => Lanes == other.Lanes;

    /// <summary>Returns the differences from an existing shape.</summary>
    public IReadOnlyList<ShapeDifference> DifferencesFrom(QueueShape existing) =>
        [
            .. new ShapeDifference[]
            {
                new("delivery", Text(existing.Delivery), Text(Delivery)),
                new("lanes", Text(existing.Lanes), Text(Lanes)),
                new("queue.type", Text(existing.Type), Text(Type)),
                new("queue.maxLength", Text(existing.MaxLength), Text(MaxLength)),
                new("queue.overflow", Text(existing.Overflow), Text(Overflow)),
            }.Where(difference => difference.Existing != difference.Wanted),
        ];

    // Returns the value in the form of the configuration.
    private static string Text(object? value) =>
        value switch
        {
            null => "none",
            DeliveryMode.OrderedByKey => "ordered-by-key",
            QueueOverflow.RejectPublish => "reject-publish",
            QueueOverflow.DropHead => "drop-head",
            Enum other => other.ToString().ToLowerInvariant(),
            _ => $"{value}",
        };
}

/// <summary>A setting of existing queues that differs from the configuration.</summary>
internal sealed record ShapeDifference(string Setting, string Existing, string Wanted)
{
    public override string ToString() => $"{Setting} is {Existing} there, {Wanted} here";
}
