using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics;

/// <summary>The transport over RabbitMQ keeps the contract.</summary>
[TestFixture]
public sealed class RabbitMqTopicTransportTests : TopicTransportContract
{
    private TestBroker _broker = null!;
    private ITopicTransport? _otherHost;

    protected override ITopicTransport CreateTransport()
    {
        _broker = new TestBroker();
        return _broker.CreateTransport(Topics);
    }

    protected override async Task<ITopicTransport> OtherHostAsync()
    {
        _otherHost = _broker.CreateTransport(Topics);
        await _otherHost.StartAsync(CancellationToken.None);
        return _otherHost;
    }

    protected override void OnSubscribed(Subscription subscription) => _broker.Note(subscription);

    protected override async Task CleanUpAsync()
    {
        if (_otherHost is not null) await _otherHost.DisposeAsync();
        _otherHost = null;
        await _broker.CleanUpAsync();
    }
}
