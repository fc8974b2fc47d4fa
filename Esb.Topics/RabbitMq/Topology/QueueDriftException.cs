namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Thrown when the broker's queues or exchanges differ from the configuration in a setting that only a migration
/// changes.</summary>
internal sealed class QueueDriftException(string message, Exception? inner = null) : Exception(message, inner)
{
    /// <summary>The code for the documentation of the error.</summary>
    public string Code { get; private init; } = "ESB-CFG-QUEUEDRIFT";

    /// <summary>Returns the exception for a queue that another configuration owns.</summary>
    public static QueueDriftException Owner(string queue, string owner) => new(DescribeOwner(queue, owner)) { Code = OwnerCode };

    public const string OwnerCode = "ESB-CFG-QUEUEOWNER";

    public static string DescribeOwner(string queue, string owner) =>
        $"the queue {queue} of release 0.1 belongs to the configuration '{owner}'; 'esb plan' with --apply for that one moves it "
        + $"out of the way, or give this endpoint another name";
}
