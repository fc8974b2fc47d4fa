using Esb.Core.Topics;
using Esb.Topics.RabbitMq;

namespace Esb.IntegrationTests.Topics;

/// <summary>The transport over RabbitMQ keeps the contract.</summary>
[TestFixture]
public sealed class RabbitMqTopicTransportTests : TopicTransportContract
{
    private TestBroker _broker = null!;
    private readonly List<ITopicTransport> _otherHosts = [];

    protected override IUnroutableMessages Unroutable => ((RabbitMqTransport)Transport).Unroutable;

    protected override ITopicTransport CreateTransport()
    {
        _broker = new TestBroker();
        return _broker.CreateTransport(Topics);
    }

    protected override async Task<ITopicTransport> OtherHostAsync()
    {
        var host = _broker.CreateTransport(Topics);
        _otherHosts.Add(host);
        await host.StartAsync(CancellationToken.None);
        return host;
    }

    protected override void OnSubscribed(Subscription subscription) => _broker.Note(subscription);

    protected override async Task CleanUpAsync()
    {
        foreach (var host in _otherHosts) await host.DisposeAsync();
        _otherHosts.Clear();
        await _broker.CleanUpAsync();
    }
}
