using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Delivery.Intake;

/// <summary>What came in by one inbound endpoint so far. Thread-safe.</summary>
public sealed class IntakeState(string endpoint, TimeProvider time)
{
    private readonly PeakCount _inFlight = new();
    private long _messages;
    private long _failures;
    private long _lastMessageAt;

    /// <returns>When, for what is told of it later.</returns>
    public long Begin()
    {
        _inFlight.Increment();
        return time.GetTimestamp();
    }

    /// <param name="outcome">One of <see cref="IntakeOutcomes"/>.</param>
    /// <param name="party">Who sent it, where that is known.</param>
    public void End(string outcome, string? party = null)
    {
        _inFlight.Decrement();
        Count(outcome, party);
    }

    /// <summary>Counts something that ended before it began, such as a refused request.</summary>
    public void Count(string outcome, string? party = null)
    {
        Interlocked.Increment(ref IntakeOutcomes.IsFailure(outcome) ? ref _failures : ref _messages);
        Interlocked.Exchange(ref _lastMessageAt, time.GetUtcNow().UtcTicks);
        IntakeTelemetry.CountReceived(endpoint, outcome, party);
    }

    /// <summary>Tells how long a message took until it was published. A transaction publishes with its commit, which its process has just come to the end of.</summary>
    public void Published(long began, FirstPublish publish, string? party) =>
        IntakeTelemetry.RecordInbound(endpoint, publish.Topic, party, publish.ConfirmedAt is { } confirmed ? time.GetElapsedTime(began, confirmed) : time.GetElapsedTime(began));

    /// <summary>Tells how long a request took until it was answered, or refused.</summary>
    public void Answered(long began, string outcome, string? party) => IntakeTelemetry.RecordRequest(endpoint, outcome, party, time.GetElapsedTime(began));

    /// <summary>Begins to look for the peak anew.</summary>
    public void ResetPeaks() => _inFlight.ResetPeak();

    public EndpointStatus Describe(string type, EndpointState state, string? reason) => new()
    {
        Name = endpoint,
        Type = type,
        State = state,
        Reason = reason,
        Messages = Interlocked.Read(ref _messages),
        Failures = Interlocked.Read(ref _failures),
        InFlight = _inFlight.Value,
        PeakInFlight = _inFlight.Peak,
        LastMessageAt = Interlocked.Read(ref _lastMessageAt) is > 0 and var ticks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null,
    };
}
