using System.Collections.Concurrent;

namespace Esb.Delivery.Intake;

/// <summary>The state of each inbound endpoint, by name: shared by its intake, its relay and the monitor. Thread-safe.</summary>
public sealed class IntakeStates(TimeProvider time)
{
    private readonly ConcurrentDictionary<string, IntakeState> _states = new();

    public IntakeState Of(string endpoint) => _states.GetOrAdd(endpoint, static (name, clock) => new IntakeState(name, clock), time);
}
