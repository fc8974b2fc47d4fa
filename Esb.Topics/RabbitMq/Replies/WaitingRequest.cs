using Esb.Core.Messages;

namespace Esb.Topics.RabbitMq.Replies;

/// <summary>A request whose reply is waited for. Its place on the <see cref="RequestClock"/> is guarded there.</summary>
/// <param name="id">What its reply is correlated by.</param>
internal sealed class WaitingRequest(string id) : TaskCompletionSource<EsbMessage>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public string Id => id;

    /// <summary>The tick at which its time is up.</summary>
    public long Tick { get; set; }

    /// <summary>Its place among those that stand on the same tick; null where it stands nowhere.</summary>
    public LinkedListNode<WaitingRequest>? Place { get; set; }
}
