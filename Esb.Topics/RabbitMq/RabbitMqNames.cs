using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq;

/// <summary>Names on the broker, all under one prefix.</summary>
internal sealed class RabbitMqNames(string prefix)
{
    public string Unroutable { get; } = $"{prefix}.unroutable";

    /// <summary>Copies of unroutable messages, read at once to count them and to warn.</summary>
    public string UnroutableNotices { get; } = $"{prefix}.unroutable.notices";

    /// <summary>Takes what only shows that the broker keeps messages; nobody reads it.</summary>
    public string Probes { get; } = $"{prefix}.probes";

    public string DeadLetters { get; } = $"{prefix}.dead-letters";

    private string RepliesPrefix => $"{prefix}.replies.";

    public string Topic(string topic) => $"{prefix}.topics.{topic}";

    public string TopicOf(string subject) => Topic(Subject.TopicOf(subject));

    public string Endpoint(string endpoint) => $"{prefix}.endpoints.{endpoint}";

    /// <summary>The endpoint that a queue, or a lane, is named after; null where it is none of an endpoint.</summary>
    public string? EndpointOf(string queue) => queue.StartsWith($"{prefix}.endpoints.", StringComparison.Ordinal) ? queue[(prefix.Length + 11)..].Split('.')[0] : null;

    /// <summary>One of the queues that share the messages of an endpoint by their keys.</summary>
    public string Lane(string endpoint, int lane) => $"{Endpoint(endpoint)}.lane.{lane}";

    /// <summary>The queues that a subscription consumes.</summary>
    public IEnumerable<string> LanesOf(Subscription subscription) => LanesOf(subscription.Endpoint, subscription.Lanes);

    /// <summary>The lanes of an endpoint, or its one queue.</summary>
    public IEnumerable<string> LanesOf(string endpoint, int? lanes) =>
        lanes is { } count ? Enumerable.Range(0, count).Select(lane => Lane(endpoint, lane)) : [Endpoint(endpoint)];

    public string Rung(string endpoint, TimeSpan delay) => $"{Endpoint(endpoint)}.retry.{(long)delay.TotalMilliseconds}";

    /// <summary>Keeps what we know of an endpoint's queues.</summary>
    public string Record(string endpoint) => $"{Endpoint(endpoint)}.record";

    /// <summary>What waited in an endpoint's queues when its migration began.</summary>
    public string Backlog(string endpoint) => $"{Endpoint(endpoint)}.migration.backlog";

    /// <summary>What is published for an endpoint while it is migrated.</summary>
    public string Meanwhile(string endpoint) => $"{Endpoint(endpoint)}.migration.meanwhile";

    /// <summary>Where the hosts of a configuration talk to each other.</summary>
    public string Farm(string configuration) => $"{prefix}.farm.{string.Concat(configuration.Select(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_' ? c : '-'))}";

    public string Replies(Guid connection) => $"{RepliesPrefix}{Environment.MachineName}.{connection}";

    /// <summary>Whether a host of ours reads the replies there.</summary>
    public bool IsOurReplyQueue(string queue) => queue.StartsWith(RepliesPrefix, StringComparison.Ordinal);

    /// <summary>Whether a reply may be sent to a queue: to those of requesters, never into the queues of topics, endpoints and dead letters.</summary>
    public bool MayReplyTo(string queue) =>
        IsOurReplyQueue(queue) || !queue.StartsWith($"{prefix}.", StringComparison.Ordinal);
}
