using System.Collections.Concurrent;

namespace Esb.Delivery.Intake.Holds;

/// <summary>The hold of each inbound endpoint, by name: shared by its admission, its monitor and its control, and kept across instances.
/// Thread-safe.</summary>
public sealed class IntakeHolds(TimeProvider time)
{
    private readonly ConcurrentDictionary<string, IntakeHold> _holds = new();

    /// <summary>The hold of an endpoint; initially open.</summary>
    public IntakeHold Of(string endpoint) => _holds.GetOrAdd(endpoint, static (name, clock) => new IntakeHold(name, clock), time);
}
