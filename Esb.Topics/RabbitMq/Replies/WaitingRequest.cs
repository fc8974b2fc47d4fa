using Esb.Core.Messages;

namespace Esb.Topics.RabbitMq.Replies;

/// <summary>A request with a pending reply. The <see cref="RequestClock"/> guards its place on the wheel.</summary>
/// <param name="id">The id that correlates its reply.</param>
internal sealed class WaitingRequest(string id) : TaskCompletionSource<EsbMessage>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public string Id => id;

    /// <summary>The tick at which its time is up.</summary>
    public long Tick { get; set; }

    /// <summary>Its place among the requests of the same tick; null if it is not on the wheel.</summary>
    public LinkedListNode<WaitingRequest>? Place { get; set; }
}
