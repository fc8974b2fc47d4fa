namespace Esb.Topics.RabbitMq.Topology;

/// <summary>What exists on the broker differs from what the configuration wants, in something that only a migration changes.</summary>
internal sealed class QueueDriftException(string message, Exception? inner = null) : Exception(message, inner)
{
    /// <summary>What people look it up by.</summary>
    public string Code { get; private init; } = "ESB-CFG-QUEUEDRIFT";

    /// <summary>The queue is another configuration's.</summary>
    public static QueueDriftException Owner(string queue, string owner) => new(DescribeOwner(queue, owner)) { Code = OwnerCode };

    public const string OwnerCode = "ESB-CFG-QUEUEOWNER";

    public static string DescribeOwner(string queue, string owner) =>
        $"the queue {queue} of release 0.1 belongs to the configuration '{owner}'; 'esb plan' with --apply for that one moves it out of the way, or give this endpoint another name";
}
