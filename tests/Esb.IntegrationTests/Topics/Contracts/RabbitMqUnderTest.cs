using Esb.Core.Topics;
using Esb.Topics.RabbitMq;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>The transport over RabbitMQ, under names of each test's own.</summary>
internal sealed class RabbitMqUnderTest : ITransportUnderTest
{
    private readonly List<ITopicTransport> _otherHosts = [];
    private IReadOnlyDictionary<string, TopicConfig> _topics = null!;
    private TestBroker _broker = null!;

    public ITopicTransport Create(IReadOnlyDictionary<string, TopicConfig> topics)
    {
        _topics = topics;
        _broker = new TestBroker();
        return _broker.CreateTransport(topics);
    }

    public IUnroutableMessages UnroutableOf(ITopicTransport transport) => ((RabbitMqTransport)transport).Unroutable;

    public async Task<ITopicTransport> OtherHostAsync(ITopicTransport transport)
    {
        var host = _broker.CreateTransport(_topics);
        _otherHosts.Add(host);
        await host.StartAsync(CancellationToken.None);
        return host;
    }

    public void Note(Subscription subscription) => _broker.Note(subscription);

    public async Task CleanUpAsync()
    {
        foreach (var host in _otherHosts)
            await host.DisposeAsync();
        _otherHosts.Clear();
        await _broker.CleanUpAsync();
    }
}
