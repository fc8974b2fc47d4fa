using Esb.Core.Configuration.Settings;

namespace Esb.Core.Endpoints;

/// <summary>When an endpoint pauses because its external system does not answer, and how it probes (pattern: Circuit Breaker). An
/// external system that cannot be reached at all pauses it at once.</summary>
public sealed record CircuitBreakerConfig : SettingsRecord
{
    /// <summary>Unanswered attempts in a row, of more than one message.</summary>
    [Setting(
        "Attempts in a row, of more than one message, that the external system does not answer or rejects before the endpoint pauses.",
        Range = "2..1000"
    )]
    public int Failures { get; init; } = 10;

    /// <summary>Longest time between two probes.</summary>
    [Setting(
        "The longest time between two probes of a paused endpoint; the first follows after 1s, and each waits twice as long.",
        Range = "1s..1h"
    )]
    public TimeSpan Probe { get; init; } = TimeSpan.FromSeconds(30);
}
