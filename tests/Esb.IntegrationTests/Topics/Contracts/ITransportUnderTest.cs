using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>A kind of transport, for a test of what all kinds must do.</summary>
public interface ITransportUnderTest
{
    /// <summary>Makes the transport of a test; it knows some topics.</summary>
    ITopicTransport Create(IReadOnlyDictionary<string, TopicConfig> topics);

    /// <summary>What a transport of this kind keeps of messages that nobody wants.</summary>
    IUnroutableMessages UnroutableOf(ITopicTransport transport);

    /// <summary>Starts a transport of another host with the same topics; where there can be none, the one that is given.</summary>
    Task<ITopicTransport> OtherHostAsync(ITopicTransport transport) => Task.FromResult(transport);

    /// <summary>Learns what a test subscribes, to remove it later.</summary>
    void Note(Subscription subscription) { }

    /// <summary>Removes what a test left on a server.</summary>
    Task CleanUpAsync() => Task.CompletedTask;
}
