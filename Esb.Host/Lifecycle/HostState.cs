namespace Esb.Host.Lifecycle;

/// <summary>Where a host stands between start and stop. Thread-safe.</summary>
internal sealed class HostState
{
    private volatile bool _started;
    private volatile bool _stopping;

    /// <summary>Why nothing can be taken in now, whatever the parts say; null when they decide.</summary>
    public string? Obstacle => _stopping ? "stopping" : !_started ? "starting" : null;

    /// <summary>Whether it has come to run, whatever became of it.</summary>
    public bool WasReady => _started;

    public void Started() => _started = true;

    public void Stopping() => _stopping = true;
}
