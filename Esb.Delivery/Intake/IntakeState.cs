using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Delivery.Intake;

/// <summary>The counters of one inbound endpoint. Thread-safe.</summary>
public sealed class IntakeState(string endpoint, TimeProvider time)
{
    private readonly PeakCount _inFlight = new();
    private long _messages;
    private long _failures;
    private long _lastMessageAt;

    /// <returns>The start time, as a timestamp for later calls.</returns>
    public long Begin()
    {
        _inFlight.Increment();
        return time.GetTimestamp();
    }

    /// <param name="outcome">One of <see cref="IntakeOutcomes"/>.</param>
    /// <param name="party">The sender, if known.</param>
    public void End(string outcome, string? party = null)
    {
        _inFlight.Decrement();
        Count(outcome, party);
    }

    /// <summary>Counts a message that ended before processing began, such as a refused request.</summary>
    public void Count(string outcome, string? party = null)
    {
        Interlocked.Increment(ref IntakeOutcomes.IsFailure(outcome) ? ref _failures : ref _messages);
        Interlocked.Exchange(ref _lastMessageAt, time.GetUtcNow().UtcTicks);
        IntakeTelemetry.CountReceived(endpoint, outcome, party);
    }

    /// <summary>Records the time from receipt to publish. A transaction publishes at its commit, which has just completed.</summary>
    public void Published(long began, FirstPublish publish, string? party) =>
        IntakeTelemetry.RecordInbound(
            endpoint,
            publish.Topic,
            party,
            publish.ConfirmedAt is { } confirmed ? time.GetElapsedTime(began, confirmed) : time.GetElapsedTime(began)
        );

    /// <summary>Records the time from receipt to the answer or the refusal of a request.</summary>
    public void Answered(long began, string outcome, string? party) =>
        IntakeTelemetry.RecordRequest(endpoint, outcome, party, time.GetElapsedTime(began));

    /// <summary>Resets the peak of in-flight messages.</summary>
    public void ResetPeaks() => _inFlight.ResetPeak();

    public EndpointStatus Describe(string type, EndpointState state, string? reason) =>
        new()
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
