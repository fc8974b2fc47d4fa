using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Topics.ClaimChecks;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics;

/// <summary>A broker with names that only one test uses, and that are removed after it.</summary>
internal sealed class TestBroker
{
    /// <summary>The name of the configuration whose hosts the tests start.</summary>
    public const string Configuration = "tests";

    /// <summary>The key of all hosts that the tests start.</summary>
    public static readonly FarmKeys FarmKeys = new(new FarmConfig { Key = "the key that the hosts of the tests share" }, () => null);

    private readonly List<Subscription> _subscriptions = [];
    private readonly List<string> _topics = [];
    private readonly string _url;

    public TestBroker(string? url = null, string? prefix = null)
    {
        _url = url ?? Servers.RabbitMq;
        Prefix = prefix ?? $"esb-test-{Guid.NewGuid():N}"[..17];
        Names = new RabbitMqNames(Prefix, Configuration);
    }

    public string Prefix { get; }

    public RabbitMqNames Names { get; }

    public RabbitMqTransport CreateTransport(
        IReadOnlyDictionary<string, TopicConfig> topics,
        long maxBodyBytes = 64 * 1024 * 1024,
        ILoggerFactory? loggers = null,
        string? url = null,
        IClaimCheckStore? claims = null,
        long largestWhole = long.MaxValue,
        IEnumerable<Subscription>? endpoints = null,
        TimeProvider? time = null,
        string? configuration = null,
        FarmKeys? keys = null
    )
    {
        _topics.AddRange(topics.Keys);
        return new RabbitMqTransport(
            new RabbitMqTransportConfig { Url = url ?? _url, Prefix = Prefix },
            configuration ?? Configuration,
            topics,
            endpoints ?? [],
            new LimitsConfig { MaxBodySize = new ByteSize(maxBodyBytes), ClaimCheck = new ByteSize(largestWhole) },
            claims ?? new NoClaimCheckStore(),
            keys ?? FarmKeys,
            time ?? TimeProvider.System,
            loggers ?? NullLoggerFactory.Instance
        );
    }

    public void Note(Subscription subscription) => _subscriptions.Add(subscription);

    /// <summary>A connection as any foreign client would have it.</summary>
    public Task<IConnection> ConnectAsync() => RabbitMqAddress.Parse(_url)!.ToFactory("tests foreign").CreateConnectionAsync();

    public async Task CleanUpAsync()
    {
        await using var connection = await ConnectAsync();
        await using var channel = await connection.CreateChannelAsync();
        foreach (var subscription in _subscriptions)
        {
            foreach (var queue in Names.LanesOf(subscription).Append(Names.Endpoint(subscription.Endpoint)))
                await channel.QueueDeleteAsync(queue);
            await channel.QueueDeleteAsync(Names.Of(subscription.Endpoint).Record);
            await channel.ExchangeDeleteAsync(Names.Endpoint(subscription.Endpoint)); // of lanes, or the empty one that the bus declares
            foreach (var delay in subscription.RetryDelays)
                await channel.QueueDeleteAsync(Names.Rung(subscription.Endpoint, delay));
        }

        foreach (var topic in _topics)
            await channel.ExchangeDeleteAsync(Names.Topic(topic));
        foreach (var queue in new[] { Names.DeadLetters, Names.Unroutable, Names.UnroutableNotices, Names.DurableReplies })
            await channel.QueueDeleteAsync(queue);
        await channel.ExchangeDeleteAsync(Names.Unroutable);
        await channel.ExchangeDeleteAsync(Names.Farm);
    }
}
