namespace Esb.Core.Errors;

/// <summary>No instance of a pool became free in time.</summary>
public sealed class PoolTimeoutException(string owner, int maximumInstances, TimeSpan waited)
    : EsbException(
        "ESB-POOL-TIMEOUT",
        $"No instance of {owner} became free within {waited.TotalSeconds:0.###} s; all {maximumInstances} are in use.",
        FaultKind.Unavailable
    );
