using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Tests.Delivery.Replay;

/// <summary>Queues that remember what they got, or refuse it.</summary>
internal sealed class EndpointQueues : IEndpointQueues
{
    private readonly List<(string Endpoint, EsbMessage Message, DeliveryKind Kind)> _sent = [];

    /// <summary>Decides on the next message; it is confirmed where this is null, or says so.</summary>
    public Func<string, EsbMessage, Task<PublishResult>>? Answer { get; set; }

    public IReadOnlyList<(string Endpoint, EsbMessage Message, DeliveryKind Kind)> Sent
    {
        get
        {
            lock (_sent)
                return [.. _sent];
        }
    }

    public async ValueTask<PublishResult> SendAsync(
        string endpoint,
        EsbMessage message,
        DeliveryKind kind,
        CancellationToken cancellationToken
    )
    {
        cancellationToken.ThrowIfCancellationRequested();
        var result = Answer is null ? PublishResult.Confirmed : await Answer(endpoint, message);
        if (result.Outcome != PublishOutcome.Confirmed)
            return result;
        lock (_sent)
            _sent.Add((endpoint, message, kind));
        return result;
    }
}
