using System.Collections.Concurrent;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Core.Workflows;

namespace Esb.Topics.RabbitMq;

/// <summary>Names on the broker, all under one prefix. All configurations under it share the topics; queues belong to one configuration.
/// Thread-safe.</summary>
/// <param name="prefix">The prefix of all names.</param>
/// <param name="configuration">The name of the configuration.</param>
internal sealed class RabbitMqNames(string prefix, string configuration)
{
    private readonly string _endpoints = $"{prefix}.endpoints.";

    // Subscribers that are no endpoints, by the beginning of their names, and the beginning of the names of their queues.
    private readonly (string Subscriber, string Queue)[] _others =
    [
        (WorkflowQueues.Prefix, $"{prefix}.workflows."),
        (HeldQueues.ProcessPrefix, $"{prefix}.processes."),
        (HeldQueues.ItineraryPrefix, $"{prefix}.itineraries."),
    ];

    private readonly ConcurrentDictionary<string, EndpointNames> _chosen = new();

    /// <summary>The name of the configuration that owns the queues.</summary>
    public string Configuration { get; } = configuration;

    public string Unroutable { get; } = $"{prefix}.unroutable";

    /// <summary>The queue for copies of unroutable messages, read at once for counts and warnings.</summary>
    public string UnroutableNotices { get; } = $"{prefix}.unroutable.notices";

    /// <summary>The queue for messages that only prove that the broker stores messages; it is never read.</summary>
    public string Probes { get; } = $"{prefix}.probes";

    /// <summary>The queue in which hosts pass dead letters to the host that stores them.</summary>
    public string DeadLetters => DeadLettersOf(Configuration);

    /// <summary>The dead-letter queue of release 0.1, shared by all configurations.</summary>
    public string OldDeadLetters { get; } = $"{prefix}.dead-letters";

    /// <summary>The exchange over which the hosts of the configuration communicate.</summary>
    public string Farm { get; } = $"{prefix}.farm.{configuration}";

    private string RepliesPrefix => $"{prefix}.replies.";

    public string Topic(string topic) => $"{prefix}.topics.{topic}";

    public string TopicOf(string subject) => Topic(Subject.TopicOf(subject));

    public string DeadLettersOf(string configuration) => $"{prefix}.dead-letters.{configuration}";

    /// <summary>Returns the current names of an endpoint's queues, if known; otherwise the names under which they are created.</summary>
    public EndpointNames Of(string endpoint) => Chosen(endpoint) ?? New(endpoint);

    /// <summary>Returns the observed names of an endpoint's queues; null if they have not been looked up.</summary>
    public EndpointNames? Chosen(string endpoint) => _chosen.GetValueOrDefault(endpoint);

    /// <summary>Returns the names under which queues are created.</summary>
    public EndpointNames New(string endpoint)
    {
        foreach (var (subscriber, queue) in _others)
        {
            if (endpoint.StartsWith(subscriber, StringComparison.Ordinal))
                return new(endpoint, $"{queue}{Configuration}.{endpoint[subscriber.Length..]}", AreOld: false);
        }

        return new(endpoint, $"{_endpoints}{Configuration}.{endpoint}", AreOld: false);
    }

    /// <summary>Returns the names under which release 0.1 created queues.</summary>
    public EndpointNames Old(string endpoint) => new(endpoint, $"{_endpoints}{endpoint}", AreOld: true);

    /// <summary>Records the names of an endpoint's queues.</summary>
    public void Choose(EndpointNames queues) => _chosen[queues.Endpoint] = queues;

    /// <summary>Forgets the names of an endpoint's queues if this is one of them: they are about to be replaced.</summary>
    public void Forget(string queue)
    {
        foreach (var chosen in _chosen.Where(chosen => chosen.Value.Queue == queue))
            _chosen.TryRemove(chosen);
    }

    public string Endpoint(string endpoint) => Of(endpoint).Queue;

    /// <summary>Returns the endpoint that a queue or a lane is named after; null if it belongs to no endpoint of this
    /// configuration.</summary>
    public string? EndpointOf(string queue)
    {
        foreach (var (subscriber, beginning) in _others)
        {
            if (queue.StartsWith(beginning, StringComparison.Ordinal))
                return queue[beginning.Length..].Split('.') is [var owner, var name, ..] && owner == Configuration
                    ? subscriber + name
                    : null;
        }

        if (!queue.StartsWith(_endpoints, StringComparison.Ordinal))
            return null;
        var parts = queue[_endpoints.Length..].Split('.');
        if (parts.Length == 1 || EndpointNames.Parts.Contains(parts[1]))
            return parts[0]; // of release 0.1
        return parts[0] == Configuration ? parts[1] : null;
    }

    /// <summary>True if a queue holds messages that wait for their next attempt at an endpoint.</summary>
    public bool IsRung(string endpoint, string queue) => New(endpoint).IsRung(queue) || Old(endpoint).IsRung(queue);

    /// <summary>True if an exchange is the one in front of the lanes of an endpoint.</summary>
    public bool IsExchange(string endpoint, string exchange) => exchange == New(endpoint).Queue || exchange == Old(endpoint).Queue;

    /// <summary>Returns the name of a lane: one of the queues that share the messages of an endpoint by key.</summary>
    public string Lane(string endpoint, int lane) => Of(endpoint).Lane(lane);

    /// <summary>Returns the queues that a subscription consumes.</summary>
    public IEnumerable<string> LanesOf(Subscription subscription) => Of(subscription.Endpoint).Lanes(subscription.Lanes);

    public string Rung(string endpoint, TimeSpan delay) => Of(endpoint).Rung(delay);

    public string Replies(Guid connection) => $"{RepliesPrefix}{Environment.MachineName}.{connection}";

    /// <summary>The queue for replies that any host of the configuration may read.</summary>
    public string DurableReplies => $"{RepliesPrefix}{Configuration}";

    /// <summary>True if replies in a queue of requesters have to survive a restart of the broker.</summary>
    public bool AreDurableReplies(string queue) => IsOurReplyQueue(queue) && !queue.AsSpan(RepliesPrefix.Length).Contains('.');

    /// <summary>True if a host of this bus reads the replies from a queue.</summary>
    public bool IsOurReplyQueue(string queue) => queue.StartsWith(RepliesPrefix, StringComparison.Ordinal);

    /// <summary>True if a reply may be sent to a queue: to those of requesters, never to the queues of topics, endpoints and dead
    /// letters.</summary>
    public bool MayReplyTo(string queue) => IsOurReplyQueue(queue) || !queue.StartsWith($"{prefix}.", StringComparison.Ordinal);
}
