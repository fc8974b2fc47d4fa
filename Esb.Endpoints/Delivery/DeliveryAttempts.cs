using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Endpoints.Delivery;

/// <summary>The attempts to deliver one message, for as long as it is in our hands. Used by one delivery; not thread-safe.</summary>
internal sealed class DeliveryAttempts(TopicDelivery delivery, TimeProvider time)
{
    private readonly long _started = time.GetTimestamp();
    private readonly DateTimeOffset _first = time.GetUtcNow();

    public TopicDelivery Delivery => delivery;

    /// <summary>Attempts so far, those before this delivery included.</summary>
    public int Count { get; private set; } = delivery.Message.Attempt;

    /// <summary>The message as the current attempt sees it.</summary>
    public EsbMessage Current => delivery.Message with { Attempt = Count };

    /// <summary>The last failure; null after a success.</summary>
    public EsbException? Last { get; private set; }

    /// <summary>Whether an attempt ended without word: then it may have had its effect.</summary>
    public bool IsUnknown { get; private set; }

    public TimeSpan Elapsed => time.GetElapsedTime(_started);

    public void Begin() => Count++;

    public void Forget() => Count--;

    public void Fail(EsbException failure) => Last = failure;

    public void Doubt(EsbException failure) => IsUnknown |= failure.Kind == FaultKind.Timeout || failure is EndpointException { IsOutage: true };

    public void Succeed() => Last = null;

    public DeadLetter ToDeadLetter(string endpoint, EsbException failure)
    {
        var reason = failure.InnerException is { } inner ? $"{failure.Message} {inner.Message}" : failure.Message;
        return new DeadLetter(
            Current,
            endpoint,
            failure.Code,
            reason.Length <= DeadLetter.MaxReasonLength ? reason : reason[..DeadLetter.MaxReasonLength],
            (failure.InnerException ?? failure).GetType().FullName,
            Count,
            delivery.Message.Attempt == 0 ? _first : delivery.Message.CreatedAt,
            time.GetUtcNow());
    }
}
