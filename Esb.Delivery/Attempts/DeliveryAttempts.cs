using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Delivery.Failures;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Attempts;

/// <summary>The attempts to deliver one message, while this host holds it. Used by one delivery; not thread-safe.</summary>
/// <param name="message">The message, with the number of earlier attempts.</param>
/// <param name="failures">The failures of the earlier attempts.</param>
/// <param name="time">The clock.</param>
internal sealed class DeliveryAttempts(EsbMessage message, IReadOnlyList<FailedAttempt> failures, TimeProvider time)
{
    private readonly long _started = time.GetTimestamp();
    private DateTimeOffset _first = failures is [var first, ..] ? first.At : time.GetUtcNow();

    /// <summary>The number of attempts so far, including those before this delivery.</summary>
    public int Count { get; private set; } = message.Attempt;

    /// <summary>The message with the number of the current attempt.</summary>
    public EsbMessage Current => message with { Attempt = Count };

    /// <summary>The failed attempts, oldest first.</summary>
    public IReadOnlyList<FailedAttempt> Failures { get; private set; } = failures;

    /// <summary>The last failure; null after a success.</summary>
    public EsbException? Last { get; private set; }

    /// <summary>True if an attempt ended without an answer, so that it may have taken effect.</summary>
    public bool IsUnknown { get; private set; } = AreUnknown(failures);

    public TimeSpan Elapsed => time.GetElapsedTime(_started);

    /// <summary>Continues after persisted attempts, which include those that the message arrived with.</summary>
    public void Resume(KeptAttempts kept)
    {
        (Count, Failures, _first) = (kept.Count, kept.Failures, kept.Failures[0].At);
        IsUnknown = AreUnknown(kept.Failures);
    }

    public void Begin() => Count++;

    public void Forget() => Count--;

    public void Fail(EsbException failure)
    {
        Last = failure;
        Failures = FailedAttempts.Add(Failures, new FailedAttempt(time.GetUtcNow(), failure.Code, FailureText.Of(failure)));
    }

    public void Doubt(EsbException failure) =>
        IsUnknown |=
            failure is not EndpointException { IsUnsent: true }
            && (failure.Kind == FaultKind.Timeout || failure is EndpointException { IsOutage: true });

    public void Succeed() => Last = null;

    public DeadLetter ToDeadLetter(string endpoint, EsbException failure) =>
        new(
            Current,
            endpoint,
            failure.Code,
            FailureText.Of(failure),
            (failure.InnerException ?? failure).GetType().FullName,
            Count,
            _first,
            time.GetUtcNow()
        )
        {
            Failures = Failures,
        };

    private static bool AreUnknown(IReadOnlyList<FailedAttempt> failures) =>
        failures.Any(failure => failure.Code == EndpointRental.TimeoutCode);
}
