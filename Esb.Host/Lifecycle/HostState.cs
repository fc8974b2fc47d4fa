namespace Esb.Host.Lifecycle;

/// <summary>The lifecycle state of a host. Thread-safe.</summary>
internal sealed class HostState
{
    private volatile bool _started;
    private volatile bool _stopping;

    /// <summary>The reason why no message is accepted now, independent of the parts; null if the parts decide.</summary>
    public string? Obstacle =>
        _stopping ? "stopping"
        : !_started ? "starting"
        : null;

    /// <summary>True once the host has been running, even if it has stopped since.</summary>
    public bool WasReady => _started;

    public void Started() => _started = true;

    public void Stopping() => _stopping = true;
}
