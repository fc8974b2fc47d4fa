using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Intake;

/// <summary>What came in by one inbound endpoint so far. Thread-safe.</summary>
internal sealed class IntakeState(string endpoint, TimeProvider time)
{
    private static readonly Counter<long> Received =
        EndpointsTelemetry.Meter.CreateCounter<long>(EsbTelemetry.Metrics.ReceivedMessages, "{message}", "Messages taken in from outside.");

    private long _messages;
    private long _failures;
    private int _inFlight;
    private long _lastMessageAt;

    public void Begin() => Interlocked.Increment(ref _inFlight);

    /// <param name="outcome">One of <see cref="IntakeOutcomes"/>.</param>
    public void End(string outcome)
    {
        Interlocked.Decrement(ref _inFlight);
        Count(outcome);
    }

    /// <summary>Counts something that ended before it began, such as a refused request.</summary>
    public void Count(string outcome)
    {
        Interlocked.Increment(ref IntakeOutcomes.IsFailure(outcome) ? ref _failures : ref _messages);
        Interlocked.Exchange(ref _lastMessageAt, time.GetUtcNow().UtcTicks);
        Received.Add(1, new TagList { { EsbTelemetry.Tags.Endpoint, endpoint }, { EsbTelemetry.Tags.Outcome, outcome } });
    }

    public EndpointStatus Describe(string type, EndpointState state, string? reason) => new()
    {
        Name = endpoint,
        Type = type,
        State = state,
        Reason = reason,
        Messages = Interlocked.Read(ref _messages),
        Failures = Interlocked.Read(ref _failures),
        InFlight = Volatile.Read(ref _inFlight),
        LastMessageAt = Interlocked.Read(ref _lastMessageAt) is > 0 and var ticks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null,
    };
}
