using System.Collections.Concurrent;
using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq;

/// <summary>Names on the broker, all under one prefix. Topics are shared by all configurations under it, queues belong to one.
/// Thread-safe.</summary>
/// <param name="prefix">What all names begin with.</param>
/// <param name="configuration">The name of the configuration.</param>
internal sealed class RabbitMqNames(string prefix, string configuration)
{
    private readonly string _endpoints = $"{prefix}.endpoints.";
    private readonly ConcurrentDictionary<string, EndpointNames> _chosen = new();

    /// <summary>The name of the configuration that the queues are for.</summary>
    public string Configuration { get; } = configuration;

    public string Unroutable { get; } = $"{prefix}.unroutable";

    /// <summary>Copies of unroutable messages, read at once to count them and to warn.</summary>
    public string UnroutableNotices { get; } = $"{prefix}.unroutable.notices";

    /// <summary>Takes what only shows that the broker keeps messages; nobody reads it.</summary>
    public string Probes { get; } = $"{prefix}.probes";

    /// <summary>Where hosts hand dead letters over to the one that stores them.</summary>
    public string DeadLetters => DeadLettersOf(Configuration);

    /// <summary>The same of release 0.1, for all configurations together.</summary>
    public string OldDeadLetters { get; } = $"{prefix}.dead-letters";

    /// <summary>Where the hosts of the configuration talk to each other.</summary>
    public string Farm { get; } = $"{prefix}.farm.{configuration}";

    private string RepliesPrefix => $"{prefix}.replies.";

    public string Topic(string topic) => $"{prefix}.topics.{topic}";

    public string TopicOf(string subject) => Topic(Subject.TopicOf(subject));

    public string DeadLettersOf(string configuration) => $"{prefix}.dead-letters.{configuration}";

    /// <summary>The names that an endpoint's queues have now, as far as that was looked at; otherwise those that they are made
    /// under.</summary>
    public EndpointNames Of(string endpoint) => Chosen(endpoint) ?? New(endpoint);

    /// <summary>The names that an endpoint's queues were seen to have; null where nobody has looked.</summary>
    public EndpointNames? Chosen(string endpoint) => _chosen.GetValueOrDefault(endpoint);

    /// <summary>What queues are made under.</summary>
    public EndpointNames New(string endpoint) => new(endpoint, $"{_endpoints}{Configuration}.{endpoint}", AreOld: false);

    /// <summary>What release 0.1 made queues under.</summary>
    public EndpointNames Old(string endpoint) => new(endpoint, $"{_endpoints}{endpoint}", AreOld: true);

    /// <summary>Notes what the queues of an endpoint are called.</summary>
    public void Choose(EndpointNames queues) => _chosen[queues.Endpoint] = queues;

    /// <summary>Forgets what the queues of an endpoint are called, if this is one of them: they are about to be replaced.</summary>
    public void Forget(string queue)
    {
        foreach (var chosen in _chosen.Where(chosen => chosen.Value.Queue == queue)) _chosen.TryRemove(chosen);
    }

    public string Endpoint(string endpoint) => Of(endpoint).Queue;

    /// <summary>The endpoint that a queue, or a lane, is named after; null where it is none of an endpoint of this configuration.</summary>
    public string? EndpointOf(string queue)
    {
        if (!queue.StartsWith(_endpoints, StringComparison.Ordinal)) return null;
        var parts = queue[_endpoints.Length..].Split('.');
        if (parts.Length == 1 || EndpointNames.Parts.Contains(parts[1])) return parts[0]; // of release 0.1
        return parts[0] == Configuration ? parts[1] : null;
    }

    /// <summary>Whether messages wait in a queue for their next attempt at an endpoint.</summary>
    public bool IsRung(string endpoint, string queue) => New(endpoint).IsRung(queue) || Old(endpoint).IsRung(queue);

    /// <summary>Whether an exchange is the one before the lanes of an endpoint.</summary>
    public bool IsExchange(string endpoint, string exchange) => exchange == New(endpoint).Queue || exchange == Old(endpoint).Queue;

    /// <summary>One of the queues that share the messages of an endpoint by their keys.</summary>
    public string Lane(string endpoint, int lane) => Of(endpoint).Lane(lane);

    /// <summary>The queues that a subscription consumes.</summary>
    public IEnumerable<string> LanesOf(Subscription subscription) => Of(subscription.Endpoint).Lanes(subscription.Lanes);

    public string Rung(string endpoint, TimeSpan delay) => Of(endpoint).Rung(delay);

    public string Replies(Guid connection) => $"{RepliesPrefix}{Environment.MachineName}.{connection}";

    /// <summary>Whether a host of ours reads the replies there.</summary>
    public bool IsOurReplyQueue(string queue) => queue.StartsWith(RepliesPrefix, StringComparison.Ordinal);

    /// <summary>Whether a reply may be sent to a queue: to those of requesters, never into the queues of topics, endpoints and dead letters.</summary>
    public bool MayReplyTo(string queue) =>
        IsOurReplyQueue(queue) || !queue.StartsWith($"{prefix}.", StringComparison.Ordinal);
}
